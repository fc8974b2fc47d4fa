using Esb.Host.Commands;

// Of regular expressions that have no limit of their own: the patterns of XML schemas, which backtrack. Before anything makes one.
AppContext.SetData("REGEX_DEFAULT_MATCH_TIMEOUT", TimeSpan.FromSeconds(2));

return await EsbCommandLine.InvokeAsync(args, CommandContext.OfThisProcess());
