using Esb.Core.Endpoints;
using Esb.Core.Errors;
using Esb.Core.Messages;

namespace Esb.Tests.Endpoints.Contracts;

/// <summary>What the delivery controller relies on, whatever the outside is. Each type of outbound endpoint inherits it, but for
/// <c>process</c>, which has no outside.</summary>
public abstract partial class OutboundEndpointContract
{
    /// <summary>An endpoint whose outside is there and empty.</summary>
    protected abstract IOutboundAdapter Create();

    /// <summary>An endpoint whose outside cannot be reached.</summary>
    protected abstract IOutboundAdapter CreateAway();

    /// <summary>The bodies that the outside has received.</summary>
    protected abstract Task<IReadOnlyList<string>> ReceivedAsync(CancellationToken cancellationToken);

    /// <summary>A body with a text in it, as the endpoint sends it.</summary>
    protected virtual string BodyOf(string text) => text;

    [Test, CancelAfter(30_000)]
    public async Task Message_that_counts_as_sent_has_arrived(CancellationToken cancellationToken)
    {
        await using var adapter = Create();

        await adapter.CreateInstance().SendAsync(Some.Message(BodyOf("<order>Käse</order>")), cancellationToken);

        Assert.That(await ReceivedAsync(cancellationToken), Is.EqualTo([BodyOf("<order>Käse</order>")]));
    }

    [Test, CancelAfter(60_000)]
    public async Task Instances_send_side_by_side_without_losing_or_mixing_messages(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        var bodies = Enumerable.Range(0, 200).Select(number => BodyOf($"<order>{number}</order>")).ToList();

        await Task.WhenAll(
            bodies
                .Chunk(25)
                .Select(async chunk =>
                {
                    var instance = adapter.CreateInstance();
                    foreach (var body in chunk)
                        await instance.SendAsync(Some.Message(body), cancellationToken);
                })
        );

        Assert.That(await ReceivedAsync(cancellationToken), Is.EquivalentTo(bodies));
    }

    [Test, CancelAfter(30_000)]
    public async Task Cancelled_send_ends_as_cancelled_and_the_instance_goes_on(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        var instance = adapter.CreateInstance();

        Assert.That(
            async () => await instance.SendAsync(Some.Message(BodyOf("<cancelled/>")), new CancellationToken(canceled: true)),
            Throws.InstanceOf<OperationCanceledException>()
        );
        await instance.SendAsync(Some.Message(BodyOf("<next/>")), cancellationToken);

        Assert.That(await ReceivedAsync(cancellationToken), Is.EqualTo([BodyOf("<next/>")]));
    }

    [Test, CancelAfter(30_000)]
    public async Task Outside_that_is_away_is_a_transient_outage(CancellationToken cancellationToken)
    {
        await using var adapter = CreateAway();

        var failure = Assert.ThrowsAsync<EndpointException>(async () =>
            await adapter.CreateInstance().SendAsync(Some.Message(BodyOf("<order/>")), cancellationToken)
        )!;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failure.IsTransient, Is.True);
            Assert.That(failure.IsOutage, Is.True);
            Assert.That(failure.Code, Does.StartWith("ESB-"));
            Assert.That(
                failure.Message,
                Does.EndWith(".").And.Not.Contain("/").And.Not.Contain("Exception"),
                "it may be shown to whoever sent the message"
            );
        }
    }

    [Test, CancelAfter(30_000)]
    public async Task Message_stays_as_it_was_and_can_be_sent_again(CancellationToken cancellationToken)
    {
        await using var adapter = Create();
        var instance = adapter.CreateInstance();
        var message = Some.Message(BodyOf("<order/>"), contentType: "application/xml") with
        {
            Headers = MessageHeaders.Empty.With("x-order", "A-1"),
        };
        var before = message.Body.Bytes.ToArray();

        await instance.SendAsync(message, cancellationToken);
        await instance.SendAsync(message, cancellationToken);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(message.Body.Bytes.ToArray(), Is.EqualTo(before));
            Assert.That(message.Headers["x-order"], Is.EqualTo("A-1"));
            Assert.That(await ReceivedAsync(cancellationToken), Is.Not.Empty.And.All.EqualTo(BodyOf("<order/>")));
        }
    }
}
