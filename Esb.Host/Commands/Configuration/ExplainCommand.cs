using System.CommandLine;
using Esb.Host.Composition;

namespace Esb.Host.Commands.Configuration;

/// <summary><c>esb explain config</c></summary>
internal sealed class ExplainCommand : Command
{
    private readonly Argument<string> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json.",
    };

    public ExplainCommand(CommandContext context)
        : base("explain", "Shows what a configuration means: compiled processes, and where each value came from.")
    {
        Add(_config);
        SetAction(result => Explain(context, result.GetRequiredValue(_config)));
    }

    private static int Explain(CommandContext context, string path)
    {
        var model = BusServices.Compile(path, context.Variables, context.Services());
        new ConfigurationExplanation(model).Write(context.Output);
        return ExitCode.Done;
    }
}
