using System.CommandLine;
using Esb.Host.Composition;
using Esb.Host.Lifecycle;
using Esb.Host.Versions;

namespace Esb.Host.Commands;

/// <summary><c>esb run [config]</c></summary>
internal sealed class RunCommand : Command
{
    private readonly Argument<string?> _config = new("config")
    {
        Description = "A configuration: a file, or a folder with esb.json and *.esb.json. Without it, samples/orders.",
        Arity = ArgumentArity.ZeroOrOne,
    };

    public RunCommand(CommandContext context)
        : base("run", "Runs a bus until it is stopped by Ctrl-C or SIGTERM.")
    {
        Add(_config);
        SetAction((result, _) => RunAsync(context, result.GetValue(_config) ?? DefaultConfiguration.Find()));
    }

    private static async Task<int> RunAsync(CommandContext context, string path)
    {
        if (SocketThreads.Spare())
            await context.Error.WriteLineAsync(
                $"warning: {SocketThreads.Variable}=1 is not used: a client of a database would wait for itself, and the host stand still"
            );
        using var signals = new StopSignals();
        while (true)
        {
            var source = await StartingVersion.FindAsync(path, context.Variables, context.Services(), context.Time, signals.Stop);
            await using var services = BusServices.Build(source);
            try
            {
                var outcome = await new EsbApplication(services).RunAsync(signals.Stop, signals.Abandon);
                return outcome.IsClean ? ExitCode.Done : ExitCode.Abandoned;
            }
            catch (NewerVersionException)
            {
                // starts with that one
            }
        }
    }
}
