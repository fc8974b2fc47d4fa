using Esb.Core.Endpoints;
using Esb.Delivery.Outbound;
using Esb.Delivery.Processes;
using Esb.Tests.Delivery.Processes;
using Esb.Tests.Fakes;
using Microsoft.Extensions.Logging.Abstractions;

namespace Esb.Tests.Endpoints.Contracts;

/// <summary>The processes that the bus runs around the endpoint, of which its type knows nothing.</summary>
public abstract partial class OutboundEndpointContract
{
    [Test, CancelAfter(30_000)]
    public async Task Process_around_the_endpoint_makes_what_arrives(CancellationToken cancellationToken)
    {
        await using var sender = Around(Create(), ScriptedProcess.Making(body => body.Replace("order", "made")));

        await sender.SendAsync(Some.Message(BodyOf("<order/>")), unitOfWork: null, cancellationToken);

        Assert.That(await ReceivedAsync(cancellationToken), Is.EqualTo([BodyOf("<made/>")]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Nothing_arrives_of_what_the_process_around_the_endpoint_filters(CancellationToken cancellationToken)
    {
        await using var sender = Around(Create(), ScriptedProcess.Filtering());

        var answer = await sender.SendAsync(Some.Message(BodyOf("<order/>")), unitOfWork: null, cancellationToken);

        Assert.That((FilteredAnswer.Is(answer), sender.Pool.Created), Is.EqualTo((true, 0)));
        Assert.That(await ReceivedAsync(cancellationToken), Is.Empty);
    }

    private static EndpointSender Around(IOutboundAdapter adapter, ScriptedProcess process)
    {
        var config = new AroundConfig { Name = "out" };
        var processes = new EndpointProcesses(
            config,
            process.At("out", new AuditLog(), TimeProvider.System),
            reply: null,
            TimeProvider.System
        );
        return new EndpointSender(config, adapter, TimeProvider.System, NullLoggerFactory.Instance, processes);
    }

    private sealed record AroundConfig : OutboundEndpointConfig;
}
