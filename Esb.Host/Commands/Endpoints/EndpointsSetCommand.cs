using System.CommandLine;
using Esb.Core.Endpoints;

namespace Esb.Host.Commands.Endpoints;

/// <summary><c>esb endpoints set NAME</c>: changes an endpoint on every host of the farm.</summary>
internal sealed class EndpointsSetCommand : Command
{
    private readonly Argument<string> _name = new("name") { Description = "An outbound endpoint." };
    private readonly Option<int?> _poolSize = new("--pool-size") { Description = "Instances that may exist at once on a host." };
    private readonly Option<int?> _processingThreads = new("--processing-threads") { Description = "Deliveries at once on a host." };
    private readonly Option<int?> _prefetch = new("--prefetch") { Description = "Messages that may be on their way from the broker." };
    private readonly HostOptions _host;

    public EndpointsSetCommand(CommandContext context)
        : base("set", "Changes an endpoint on every host of the farm, until they end: then the configuration counts again.")
    {
        Add(_name);
        Add(_poolSize);
        Add(_processingThreads);
        Add(_prefetch);
        _host = new HostOptions(this);
        Validators.Add(result =>
        {
            if (result.GetResult(_poolSize) is null && result.GetResult(_processingThreads) is null && result.GetResult(_prefetch) is null)
                result.AddError("Expected at least one of --pool-size, --processing-threads, --prefetch.");
        });
        SetAction((result, cancellationToken) => SetAsync(result, context, cancellationToken));
    }

    private async Task<int> SetAsync(ParseResult result, CommandContext context, CancellationToken cancellationToken)
    {
        var tuning = new EndpointTuning
        {
            PoolSize = result.GetValue(_poolSize),
            ProcessingThreads = result.GetValue(_processingThreads),
            Prefetch = result.GetValue(_prefetch),
        };
        using var client = _host.Connect(result, context);
        var tuned = await client.TuneAsync(result.GetRequiredValue(_name), tuning, cancellationToken);
        await context.Output.WriteLineAsync($"{tuned.Endpoint.Name} is changed on {string.Join(", ", tuned.Hosts)}");
        return ExitCode.Done;
    }
}
