using System.Collections.Concurrent;
using Esb.Configuration;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Delivery.Processes;

/// <summary>The type of the queues in which held messages continue; it has no name in configurations.</summary>
internal sealed class HeldEndpointType : OutboundEndpointType<HeldEndpointConfig>
{
    protected override CreateOutbound? Compile(HeldEndpointConfig settings, ConfigErrors errors) =>
        services => new HeldAdapter(settings.Name, services);
}

/// <summary>Runs the steps behind the step that held a message. Thread-safe.</summary>
/// <param name="endpoint">Name of the queue.</param>
/// <param name="services">The services of the bus.</param>
internal sealed class HeldAdapter(string endpoint, IServiceProvider services) : IOutboundAdapter, IOutboundEndpoint
{
    private readonly Live<IProcessCatalog> _processes = services.GetRequiredService<Live<IProcessCatalog>>();
    private readonly ConcurrentDictionary<(string Process, string Place), DeliveredProcess> _behind = new(); // one for each holding step

    public IOutboundEndpoint CreateInstance() => this;

    public async ValueTask<EsbMessage?> SendAsync(EsbMessage message, CancellationToken cancellationToken)
    {
        var (process, place, properties) =
            HeldState.Read(message)
            ?? throw new EndpointException(
                endpoint,
                "ESB-HOLD-STATE",
                "The message does not say where it continues: the header that the bus wrote is missing or damaged.",
                isTransient: false
            );
        var steps = _behind.GetOrAdd((process, place), Create);
        await steps.AnswerAsync(
            message with
            {
                Headers = message.Headers.Without(EsbHeaders.Held),
                Properties = properties,
            },
            cancellationToken
        );
        return null;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private DeliveredProcess Create((string Process, string Place) at) =>
        DeliveredProcess.Of(
            endpoint,
            () =>
                _processes.Current.FindBehind(at.Process, at.Place)
                ?? throw new EsbException(
                    "ESB-HOLD-GONE",
                    $"The process '{at.Process}' has no step '{at.Place}' any more that holds messages: the message cannot continue "
                        + $"behind it. Bring the step back (its id is its name), then release or replay the message.",
                    FaultKind.Internal
                ),
            services
        );
}
