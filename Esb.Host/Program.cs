using Esb.Host.Commands;

// The default time limit of regular expressions, which applies to the patterns of XML schemas, which backtrack. Set before the first
// expression is created.
AppContext.SetData("REGEX_DEFAULT_MATCH_TIMEOUT", TimeSpan.FromSeconds(2));

return await EsbCommandLine.InvokeAsync(args, CommandContext.OfThisProcess());
