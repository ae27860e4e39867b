import type { Tool } from '../../shared/tool.ts';

/** Returns a summary of the service for language models, in the format of `/llms.txt`. */
export function llmsText(tools: readonly Tool[]): string {
  const lines = tools.map(
    ({ name, summary, formats }) => `- ${name}: ${summary} Writes ${formats.join(', ')}.`,
  );
  return `# docmill

> Converts PDFs, web pages, images and office documents with one HTTP request.

Send GET /api/?app=TOOL&infile=URL&outfile=NAME.EXTENSION with the API key in the header X-Api-Key. The extension is the format.
app=auto chooses the tool by the source and the format, and the header X-App names it.
The response is the text "[Output] URL<br>"; with the header "Accept: application/json" it is JSON, and errors are
application/problem+json. To send a file instead of a URL, POST it as multipart/form-data with the fields app, outfile and infile.
outfile=page-*.png writes one file per page, and outfile=pages.png.zip an archive.

## Tools

${lines.join('\n')}

## Reference

- [OpenAPI 3.1](/api/openapi.json): every option of every tool, and the error codes
- [Health](/api/health): the state of each tool
`;
}
