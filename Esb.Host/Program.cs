using Esb.Host.Commands;

return await EsbCommandLine.InvokeAsync(args, CommandContext.OfThisProcess());
