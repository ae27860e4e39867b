import { TEXT } from './service.ts';

/** Shows the buttons that copy an element's text, which work only with a script. */
export function offerCopies(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false;
    const label = button.textContent;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy!)?.textContent ?? '');
      button.textContent = TEXT.copied;
      setTimeout(() => (button.textContent = label), 2000);
    });
  }
}
