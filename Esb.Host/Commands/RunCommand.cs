using System.CommandLine;
using Esb.Core.Configuration;
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
        return await RunAsync(context, path, signals.Stop, signals.Abandon);
    }

    /// <summary>Runs a bus until it is stopped.</summary>
    /// <param name="context">The environment.</param>
    /// <param name="path">The configuration.</param>
    /// <param name="stop">Requests to finish messages in flight and stop.</param>
    /// <param name="abandon">Requests to drop messages in flight.</param>
    /// <returns>The exit code of the program.</returns>
    /// <exception cref="ConfigurationRefusedException">With every error.</exception>
    internal static async Task<int> RunAsync(CommandContext context, string path, CancellationToken stop, CancellationToken abandon)
    {
        while (true)
        {
            var source = await StartingVersion.FindAsync(path, context.Variables, context.Services(), context.Time, stop);
            await using var services = BusServices.Build(source);
            try
            {
                var outcome = await new EsbApplication(services).RunAsync(stop, abandon);
                return outcome.IsClean ? ExitCode.Done : ExitCode.Abandoned;
            }
            catch (NewerVersionException)
            {
                // starts with that one
            }
        }
    }
}
