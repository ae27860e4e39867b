import { referenceOf } from '../../shared/options/reference.ts';
import type { Tool } from '../../shared/tool.ts';

/** Returns a summary of the service for language models, in the format of `/llms.txt`. */
export function llmsText(tools: readonly Tool[]): string {
  return `# docmill

> Converts PDFs, web pages, images and office documents with one HTTP request.

Send GET /api/?app=TOOL&infile=URL&outfile=NAME.EXTENSION with the API key in the header X-Api-Key. The extension is the format.
app=auto chooses the tool by the source and the format, and the header X-App names it.
The response is the text "[Output] URL<br>"; with the header "Accept: application/json" it is JSON, and errors are
application/problem+json. POST /api/json takes the same parameters as a JSON object, and always responds with JSON.
To send a file instead of a URL, POST it to /api/ as multipart/form-data with the fields app, outfile and infile.
outfile=page-*.png writes one file per page, and outfile=pages.png.zip an archive.

## Tools

${tools.map(toolText).join('\n')}
## Reference

- [OpenAPI 3.1](/api/openapi.json): every option of every tool, and the error codes
- [Documentation](/docs): the parameters that all tools share
- [Error codes](/support#codes): what each code means
- [Health](/api/health): the state of each tool
`;
}

/** Returns a line for a tool, and one for each category of its options. */
function toolText(tool: Tool): string {
  const { name, summary, formats } = tool;
  const categories = [...referenceOf(tool)].map(([category, options]) => {
    const names = options.map(({ option }) => option.names[0]);
    return `  - ${category}: ${names.join(' ')}\n`;
  });
  return `- [${name}](/docs/${name}): ${summary} Writes ${formats.join(', ')}.\n${categories.join('')}`;
}
