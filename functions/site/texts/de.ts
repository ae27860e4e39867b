import type { Texts } from './en.ts';

export const de: Texts = {
  try: {
    lead: 'Wählen Sie ein Werkzeug und eine Datei oder URL. Wenn das Ergebnis stimmt, kopieren Sie den Aufruf in Ihr Programm.',
    noScript:
      'Diese Seite braucht JavaScript. Die anderen Seiten und der Dienst selbst funktionieren auch ohne.',
    source: 'Quelle',
    sourceHint:
      'Fügen Sie eine URL ein, legen Sie eine Datei auf dieser Seite ab, oder nehmen Sie ein Beispiel.',
    choose: 'Datei auswählen',
    outfile: 'Dateiname des Ergebnisses',
    outfileHint: 'Die Endung bestimmt das Format.',
    outfileEach: 'Ein Name wie page-%d.png ergibt eine Datei je Seite, pages.png.zip ein Archiv.',
    keyHint:
      'Bleibt auf dieser Seite. Ohne Schlüssel wird eine URL oder ein Beispiel nur zur Probe umgewandelt: die erste Seite, höchstens 1024 Pixel, mit Wasserzeichen.',
    operators: 'Operatoren werden in der Reihenfolge ausgeführt, in der Sie sie setzen.',
    search: 'Option suchen',
    noneFound: 'Keine passende Option.',
    call: 'Aufruf',
    copy: 'Kopieren',
    result: 'Ergebnis',
    empty: 'Hier erscheint das Ergebnis.',
  },
  docs: {
    lead: 'Eine GET-Anfrage wandelt das Dokument unter einer URL um. Die Endung von outfile bestimmt das Format.',
    parameters: 'Parameter',
    tools: 'Werkzeuge',
    files: 'Dateien',
    sendFile:
      'Ein POST sendet die Datei selbst als infile. Auch eine Option, deren Wert eine URL ist, kann eine Datei sein, unter ihrem eigenen Namen.',
    sendPage:
      'Eine Webseite kann ihre Bilder, Stylesheets und Skripte als Dateien namens asset mitbringen. Deren Dateinamen sind die Pfade relativ zur Seite. Auch ein ZIP-Archiv mit der Seite als index.html ist möglich.',
    upload:
      'Ein Upload-Formular nimmt eine Datei vor der Umwandlung entgegen, auch von jemandem ohne Schlüssel. Senden Sie seine Felder (fields) und danach die Datei als file an seine url, und verwenden Sie innerhalb einer Stunde sein infile, upload:…',
    option: 'Option',
    effect: 'Wirkung',
    value: 'Wert',
    absent: 'Standard',
    ignored: 'Ohne Wirkung, aber erlaubt, und in X-Ignored-Options genannt:',
    refused: 'Abgelehnt:',
    more: 'Mehr',
  },
  support: {
    lead: 'Wenn eine Umwandlung nicht das Erwartete liefert, nennen Sie die Anfrage-ID. Damit finden sich die Protokollzeilen der Anfrage. Sie enthalten weder Ihr Dokument noch dessen URL.',
    send: 'Was Sie senden sollten',
    items: [
      'Die Anfrage-ID: die Kopfzeile X-Request-Id der Antwort. Die Seite mit allen Optionen zeigt sie unter jedem Ergebnis und jedem Fehler.',
      'Den Fehlercode: am Ende der Meldung und in der Kopfzeile X-Error-Code.',
      'Den Aufruf ohne API-Schlüssel, und was Sie stattdessen erwartet haben.',
    ],
    contact: 'Kontakt',
    operator: 'Wenden Sie sich an den Betreiber dieses Dienstes.',
    codes: 'Fehlercodes',
    status: 'Status',
    meaning: 'Bedeutung',
  },
  account: {
    signInLead: {
      open: 'Geben Sie Ihre E-Mail-Adresse ein. Sie erhalten einen Link, der Sie anmeldet und bei Bedarf ein Konto anlegt.',
      invite:
        'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Sie erhalten einen Link, der Sie anmeldet. Konten gibt es nur auf Einladung: Wenden Sie sich an den Betreiber.',
      off: 'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Sie erhalten einen Link, der Sie anmeldet. Neue Konten werden nicht angelegt.',
    },
    noMail:
      'Dieser Dienst versendet keine E-Mails. Bitten Sie den Betreiber um einen Link zum Anmelden, den `npm run keys -- invite EMAIL` ausgibt.',
    signInWith: 'Anmelden mit',
    providers: {
      unavailable: 'Der Anmeldedienst antwortet nicht. Versuchen Sie es in einigen Minuten noch einmal.',
      failed: 'Der Anmeldedienst hat Ihre Identität nicht bestätigt. Versuchen Sie es noch einmal.',
      expired:
        'Diese Anmeldung wurde schon verwendet, ist abgelaufen oder begann in einem anderen Browser. Versuchen Sie es noch einmal.',
      unverified:
        'Der Anmeldedienst hat Ihre E-Mail-Adresse nicht bestätigt. Bestätigen Sie sie dort, und versuchen Sie es noch einmal.',
      operator: 'Betreiber melden sich mit einem Link an, nicht mit einem Anmeldedienst.',
      noAccount:
        'Zu Ihrer E-Mail-Adresse gibt es kein Konto. Konten gibt es nur auf Einladung: Wenden Sie sich an den Betreiber.',
      otherIdentity:
        'Das Konto mit Ihrer E-Mail-Adresse gehört zu einer anderen Identität des Anmeldedienstes. Wenden Sie sich an den Betreiber.',
    },
    email: 'E-Mail-Adresse',
    sendLink: 'Link senden',
    sent: 'Wenn sich diese E-Mail-Adresse anmelden darf, wurde ihr ein Link gesendet. Er gilt einmal und 15 Minuten lang.',
    confirm: 'Melden Sie sich mit dem Link an, den Sie erhalten haben.',
    linkUsed: 'Dieser Link wurde schon verwendet oder ist abgelaufen. Fordern Sie einen neuen an.',
    badEmail: 'Geben Sie eine E-Mail-Adresse wie name@example.com ein.',
    tooMany: 'Zu viele Versuche. Versuchen Sie es in einer Stunde noch einmal.',
    refused:
      'Das Formular wurde nicht vollständig von dieser Seite gesendet. Öffnen Sie die Seite neu, und versuchen Sie es noch einmal.',
    invitationSubject: 'Ihre Einladung zu docmill',
    mailSubject: 'Ihr Link zum Anmelden bei docmill',
    invitationText: (url) =>
      `Öffnen Sie diesen Link, um sich anzumelden. Er gilt einmal und 7 Tage lang.\n\n${url}\n`,
    mailText: (url) =>
      `Öffnen Sie diesen Link, um sich anzumelden. Er gilt einmal und 15 Minuten lang.\n\n${url}\n\nWenn Sie ihn nicht angefordert haben, ignorieren Sie diese E-Mail.\n`,
    signOut: 'Abmelden',
    signOutEverywhere: 'Überall abmelden',
    newKey:
      'Ihr API-Schlüssel. Kopieren Sie ihn jetzt: Nach einmaligem Neuladen wird er nicht mehr angezeigt.',
    sessionExpired: 'Ihre Sitzung ist abgelaufen. Melden Sie sich neu an.',
    keys: 'API-Schlüssel',
    noKeys: 'Es gibt keinen Schlüssel. Erstellen Sie einen, um umzuwandeln.',
    name: 'Name',
    created: 'Erstellt',
    lastUsed: 'Zuletzt verwendet',
    never: 'nie',
    state: 'Status',
    states: {
      valid: 'gültig',
      disabled: 'gesperrt',
      accountDisabled: 'Konto gesperrt',
      expired: 'abgelaufen',
      until: 'gültig bis',
    },
    actions: 'Aktionen',
    create: 'Schlüssel erstellen',
    keyName: 'Name des neuen Schlüssels',
    rotate: 'Ersetzen',
    rotateHint: 'Ersetzen erstellt einen neuen Schlüssel. Der alte gilt noch 24 Stunden.',
    disable: 'Sperren',
    accountExpired:
      'Der Betreiber hat dieses Konto befristet, und die Frist ist abgelaufen. Wenden Sie sich an ihn.',
    tooManyKeys: {
      valid:
        'Ein Konto kann höchstens 20 gültige Schlüssel haben. Sperren Sie zuerst einen, oder wenden Sie sich an den Betreiber.',
      all: 'Ein Konto kann höchstens 200 Schlüssel haben, gesperrte eingeschlossen. Bitten Sie den Betreiber, einige zu löschen.',
    },
    left: 'Verbleibend',
    minute: 'in dieser Minute',
    month: 'in diesem Monat',
    of: 'von',
    unlimited: 'unbegrenzt',
    usage: 'Nutzung in diesem Monat',
    noUsage: 'In diesem Monat wurde nichts umgewandelt.',
    conversions: 'Umwandlungen:',
    failed: 'Fehlgeschlagen:',
    dollars: 'Geschätzte Kosten:',
    tool: 'Werkzeug',
    chart: 'Umwandlungen nach Tag und Werkzeug',
    failures: 'Letzte Fehler',
    noFailures: 'Im letzten Monat ist keine Anfrage fehlgeschlagen.',
    time: 'Zeit (UTC)',
    delete: 'Konto löschen',
    deleteLead:
      'Widerruft alle Schlüssel und löscht das Konto. Das lässt sich nicht rückgängig machen. Auch gespeicherte Ergebnisse und Uploads werden gelöscht, sofort oder wenn sie ablaufen. Die Umwandlungen dieses Monats zählen weiter, wenn Sie sich neu registrieren.',
    deleteConfirm: 'Geben Sie zur Bestätigung Ihre E-Mail-Adresse ein',
  },
  notFound: 'Diese Seite gibt es nicht.',
  failed: 'Die Seite kann nicht angezeigt werden. Versuchen Sie es gleich noch einmal.',
};
