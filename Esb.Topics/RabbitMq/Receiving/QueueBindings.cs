using System.Text;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.Topics.RabbitMq.Receiving;

/// <summary>Binds an endpoint's queue by the patterns that it wants, and by no others.</summary>
/// <remarks>
/// AMQP cannot list bindings. So the patterns bound are kept beside the queue, as the one message of a queue that keeps only its newest;
/// what an earlier configuration bound is found there and unbound.
/// </remarks>
internal sealed class QueueBindings(RabbitMqNames names, ConfirmedPublisher publisher)
{
    /// <param name="channel">Is closed afterwards.</param>
    /// <param name="subscription">Its queue exists.</param>
    /// <param name="cancellationToken">Stops between two bindings; the next start goes on.</param>
    public async Task ApplyAsync(IChannel channel, Subscription subscription, CancellationToken cancellationToken)
    {
        var wanted = subscription.Patterns.ToHashSet();
        foreach (var pattern in wanted)
            await BindAsync(channel, subscription, pattern, cancellationToken);

        var record = await OpenRecordAsync(channel, subscription.Endpoint, cancellationToken);
        var known = await channel.BasicGetAsync(record, autoAck: false, cancellationToken);
        var bound = known is null ? [] : Read(known.Body).ToHashSet();
        foreach (var stale in bound.Except(wanted))
            await UnbindAsync(channel, subscription, stale, cancellationToken);

        if (bound.SetEquals(wanted)) return; // closing the channel puts the record back
        var properties = new BasicProperties { Persistent = true };
        var recorded = await publisher.SendAsync(record, properties, Write(wanted)); // not over this connection, which only consumes
        if (recorded.Outcome != PublishOutcome.Confirmed) throw new IOException($"The bindings could not be recorded: {recorded.Reason}.");
        if (known is not null) await channel.BasicAckAsync(known.DeliveryTag, multiple: false, cancellationToken);
    }

    // Behind the exchange of an endpoint with lanes are its lanes.
    private Task BindAsync(IChannel channel, Subscription subscription, SubjectPattern pattern, CancellationToken cancellationToken) => subscription.Lanes is null
        ? channel.QueueBindAsync(names.Endpoint(subscription.Endpoint), names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken)
        : channel.ExchangeBindAsync(names.Endpoint(subscription.Endpoint), names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);

    private Task UnbindAsync(IChannel channel, Subscription subscription, SubjectPattern pattern, CancellationToken cancellationToken) => subscription.Lanes is null
        ? channel.QueueUnbindAsync(names.Endpoint(subscription.Endpoint), names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken)
        : channel.ExchangeUnbindAsync(names.Endpoint(subscription.Endpoint), names.Topic(pattern.Topic), pattern.Value, cancellationToken: cancellationToken);

    private async Task<string> OpenRecordAsync(IChannel channel, string endpoint, CancellationToken cancellationToken)
    {
        var arguments = new Dictionary<string, object?> { ["x-queue-type"] = "classic", ["x-max-length"] = 1, ["x-overflow"] = "drop-head" };
        var record = names.Bindings(endpoint);
        await channel.QueueDeclareAsync(record, durable: true, exclusive: false, autoDelete: false, arguments, cancellationToken: cancellationToken);
        return record;
    }

    private static IEnumerable<SubjectPattern> Read(ReadOnlyMemory<byte> body) =>
        Encoding.UTF8.GetString(body.Span).Split('\n').Select(SubjectPattern.Parse).OfType<SubjectPattern>();

    private static byte[] Write(IEnumerable<SubjectPattern> patterns) => Encoding.UTF8.GetBytes(string.Join('\n', patterns.Select(pattern => pattern.Value)));
}
