using System.CommandLine;
using Esb.Core.Configuration;
using Esb.Core.Processes;
using Esb.Host.Composition;

namespace Esb.Host.Commands;

/// <summary><c>esb explain config</c></summary>
internal sealed class ExplainCommand : Command
{
    private readonly Argument<string> _config = new("config") { Description = "A configuration: a file, or a folder with *.json." };

    public ExplainCommand(CommandContext context)
        : base("explain", "Shows what a configuration means: compiled processes, and where each value came from.")
    {
        Add(_config);
        SetAction((result, _) => ExplainAsync(context, result.GetRequiredValue(_config)));
    }

    private static async Task<int> ExplainAsync(CommandContext context, string path)
    {
        await using var services = await BusServices.BuildAsync(path, context.Variables, context.Services());
        new ConfigurationExplanation(services.GetRequiredService<EsbConfiguration>(), services.GetService<IProcessCatalog>()).Write(context.Output);
        return ExitCode.Done;
    }
}
