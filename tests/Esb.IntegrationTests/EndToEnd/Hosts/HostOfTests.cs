using Esb.Host;
using Esb.Host.Commands;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.IntegrationTests.EndToEnd.Hosts;

/// <summary>A host in the process of the tests, one at a time: a process of its own would compile the program anew. For what neither kills
/// it nor measures it.</summary>
internal sealed class HostOfTests : RunningHost
{
    private static readonly string HomeFolder = Directory.GetCurrentDirectory();
    private static HostOfTests? _running;

    private readonly LineWriter _output = new();
    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationTokenSource _abandon = new();
    private readonly Task<int> _run;

    private HostOfTests(string configuration, string folder, IReadOnlyDictionary<string, string> variables)
        : base(folder, variables)
    {
        if (Interlocked.CompareExchange(ref _running, this, null) is { } other)
            throw new InvalidOperationException($"A host runs in {other.Folder}; the process has only one working directory.");
        Directory.SetCurrentDirectory(folder);
        var context = CommandLine.ContextOf(Variables, _output, _output) with { Services = () => new ServiceCollection().AddEsb() };
        Console.SetOut(_output); // its logger takes it as it starts
        Console.SetError(_output);
        _run = Task.Run(() => RunCommand.RunAsync(context, configuration, _stop.Token, _abandon.Token));
    }

    /// <summary>True while there is one.</summary>
    public static bool IsTaken => _running is not null;

    protected override IReadOnlyList<string> Lines => _output.Lines;

    protected override string? Ending => _run.IsCompleted ? $"{_run.Status}: {_run.Exception?.InnerException}" : null;

    /// <summary>Starts a host and waits until it is ready.</summary>
    public static new async Task<HostOfTests> StartAsync(
        string configuration,
        string folder,
        CancellationToken cancellationToken,
        IReadOnlyDictionary<string, string>? variables = null
    )
    {
        var (output, error) = (Console.Out, Console.Error);
        var host = new HostOfTests(configuration, folder, variables ?? new Dictionary<string, string>());
        try
        {
            await host.WaitUntilReadyAsync(cancellationToken);
            return host;
        }
        finally
        {
            Console.SetOut(output);
            Console.SetError(error);
        }
    }

    public override async Task<int> StopAsync(CancellationToken cancellationToken)
    {
        await _stop.CancelAsync();
        return await _run.WaitAsync(StopLimit, cancellationToken);
    }

    public override void Kill() => throw NeedsProcess();

    public override Task SignalAsync(string signal) => throw NeedsProcess();

    /// <summary>Stops it without finishing what is under way.</summary>
    public override async ValueTask DisposeAsync()
    {
        if (_running != this)
            return;
        try
        {
            await _abandon.CancelAsync();
            await _stop.CancelAsync();
            if (await Task.WhenAny(_run, Task.Delay(StopLimit)) != _run)
                throw new TimeoutException($"The host did not stop within {StopLimit}:\n{Output}");
        }
        finally
        {
            Directory.SetCurrentDirectory(HomeFolder);
            _running = null;
            await base.DisposeAsync();
        }
    }

    private static InvalidOperationException NeedsProcess() => new($"The test needs [{nameof(OwnProcessAttribute)[..^9]}].");
}
