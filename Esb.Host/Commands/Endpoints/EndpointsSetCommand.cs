using System.CommandLine;
using Esb.Core.Audit;
using Esb.Core.Endpoints;

namespace Esb.Host.Commands.Endpoints;

/// <summary><c>esb endpoints set NAME</c>: tunes an endpoint on every host of the farm.</summary>
internal sealed class EndpointsSetCommand : Command
{
    private readonly Argument<string> _name = new("name") { Description = "An endpoint; an inbound one knows --audit only." };
    private readonly Option<int?> _poolSize = new("--pool-size") { Description = "Instances that may exist at once on a host." };
    private readonly Option<int?> _processingThreads = new("--processing-threads") { Description = "Deliveries at once on a host." };
    private readonly Option<int?> _prefetch = new("--prefetch") { Description = "Messages that may be on their way from the broker." };
    private readonly Option<int?> _rate = new("--rate") { Description = "Attempts a second, at most, on a host; 0 for no limit." };
    private readonly Option<int?> _immediate = new("--retry-immediate") { Description = "Repetitions without a delay." };
    private readonly Option<string[]> _delays = new("--retry-delays")
    {
        Description = "The delay before each further repetition, such as 10s 60s 5m; none for none.",
        AllowMultipleArgumentsPerToken = true,
    };
    private readonly Option<int?> _failures = new("--breaker-failures")
    {
        Description = "Unanswered attempts in a row after which it pauses.",
    };
    private readonly Option<string?> _probe = new("--breaker-probe") { Description = "The longest time between two probes, such as 30s." };
    private readonly Option<AuditBodies?> _audit = new("--audit") { Description = "How much of its messages is recorded." };
    private readonly HostOptions _host;

    public EndpointsSetCommand(CommandContext context)
        : base("set", "Tunes an endpoint on every host of the farm. This lasts, over the configuration, until esb endpoints reset.")
    {
        Option[] settings = [_poolSize, _processingThreads, _prefetch, _rate, _immediate, _delays, _failures, _probe, _audit];
        Add(_name);
        foreach (var setting in settings)
            Add(setting);
        _host = new HostOptions(this);
        Validators.Add(result =>
        {
            if (settings.All(setting => result.GetResult(setting) is null))
                result.AddError($"Expected at least one of {string.Join(", ", settings.Select(setting => setting.Name))}.");
        });
        SetAction((result, cancellationToken) => SetAsync(result, context, cancellationToken));
    }

    private async Task<int> SetAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        using var client = _host.Connect(result, context);
        var name = result.GetRequiredValue(_name);
        var tuned = await client.TuneAsync(name, TuningOf(result), cancellationToken);
        await context.Output.WriteLineAsync($"{name} is changed on {string.Join(", ", tuned.Hosts)}");
        return ExitCode.Done;
    }

    private EndpointTuning TuningOf(ParseResult result)
    {
        var isRetry = result.GetResult(_immediate) is not null || result.GetResult(_delays) is not null;
        var isBreaker = result.GetResult(_failures) is not null || result.GetResult(_probe) is not null;
        var delays = result.GetResult(_delays) is null ? null : result.GetValue(_delays);
        return new EndpointTuning
        {
            PoolSize = result.GetValue(_poolSize),
            ProcessingThreads = result.GetValue(_processingThreads),
            Prefetch = result.GetValue(_prefetch),
            Rate = result.GetValue(_rate),
            Retry = isRetry ? new RetryTuning { Immediate = result.GetValue(_immediate), Delays = delays is ["none"] ? [] : delays } : null,
            CircuitBreaker = isBreaker
                ? new CircuitBreakerTuning { Failures = result.GetValue(_failures), Probe = result.GetValue(_probe) }
                : null,
            Audit = result.GetValue(_audit),
        };
    }
}
