using System.Runtime.InteropServices;
using SideBySide.Measuring;
using SideBySide.Reports;
using SideBySide.Scenarios;
using SideBySide.Servers;

namespace SideBySide;

/// <summary><c>loadtests/compare</c>: runs the scenarios, writes the page, and says what was met.</summary>
internal static class CompareCommand
{
    public static async Task<int> RunAsync(string[] arguments)
    {
        CompareOptions options;
        try
        {
            options = CompareOptions.Parse(arguments);
        }
        catch (ArgumentException error)
        {
            await Console.Error.WriteLineAsync($"loadtests/compare: {error.Message}");
            return 2;
        }

        var surroundings = Surroundings.FromEnvironment();
        using var stop = new CancellationTokenSource();
        using var interrupted = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
        using var terminated = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
        var comparison = new Comparison(surroundings, options, Console.WriteLine);
        var servers = new TestServers(surroundings);
        var results = await comparison.RunAsync(
            options.Earlier is { } earlier
                ? [new EarlierRig(surroundings, servers, earlier)]
                :
                [
                    new MediationRig(surroundings, servers),
                    new RequestReplyRig(surroundings, servers),
                    new InsertRig(surroundings, servers),
                    new AuditRig(surroundings, servers),
                    new FarmRig(surroundings, servers),
                    new ItineraryRig(surroundings, servers),
                    new WorkflowRig(surroundings, servers),
                    new ContentRig(surroundings, servers, options.IsQuick),
                ],
            stop.Token
        );
        Console.WriteLine();
        Console.WriteLine(Summary.Write(results));
        return results.SelectMany(result => result.Rows).Any(row => row.Flaw is not null) ? 1 : 0;

        void Stop(PosixSignalContext signal)
        {
            signal.Cancel = true; // servers are stopped first
            stop.Cancel();
        }
    }
}
