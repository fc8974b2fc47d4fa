using System.Text;
using Esb.Core.Topics;
using RabbitMQ.Client;

namespace Esb.IntegrationTests.Topics.Queues;

/// <summary>Queues of an endpoint as release 0.1 made them: without the name of a configuration, and with one queue of dead letters for
/// all.</summary>
internal static class OldQueues
{
    public static async Task DeclareAsync(
        IChannel channel,
        string prefix,
        Subscription subscription,
        string state = "\"isMigrating\":false,\"isEmptied\":false"
    )
    {
        var queue = $"{prefix}.endpoints.{subscription.Endpoint}";
        await channel.QueueDeclareAsync($"{prefix}.dead-letters", durable: true, exclusive: false, autoDelete: false, Alone(Quorum()));
        if (subscription.Lanes is { } lanes)
        {
            await channel.ExchangeDeclareAsync(
                $"{queue}.keys",
                "x-consistent-hash",
                durable: true,
                arguments: new Dictionary<string, object?> { ["hash-header"] = "esb-key" }
            );
            await channel.ExchangeDeclareAsync(
                queue,
                ExchangeType.Direct,
                durable: true,
                arguments: new Dictionary<string, object?> { ["alternate-exchange"] = $"{queue}.keys" }
            );
            for (var lane = 0; lane < lanes; lane++)
            {
                await channel.QueueDeclareAsync(
                    $"{queue}.lane.{lane}",
                    durable: true,
                    exclusive: false,
                    autoDelete: false,
                    DeadLetteringTo($"{prefix}.dead-letters", Alone(Limited(subscription)))
                );
                for (var slot = lane; slot < 128; slot += lanes)
                    await channel.QueueBindAsync($"{queue}.lane.{lane}", queue, $"~{slot}");
                await channel.QueueBindAsync($"{queue}.lane.{lane}", $"{queue}.keys", "1");
            }
        }
        else
        {
            var arguments = Limited(subscription);
            await channel.QueueDeclareAsync(
                queue,
                durable: true,
                exclusive: false,
                autoDelete: false,
                DeadLetteringTo($"{prefix}.dead-letters", subscription.SingleActive ? Alone(arguments) : arguments)
            );
        }

        foreach (var delay in subscription.RetryDelays)
        {
            var arguments = DeadLetteringTo(queue, Quorum());
            arguments["x-message-ttl"] = (long)delay.TotalMilliseconds;
            await channel.QueueDeclareAsync(
                $"{queue}.retry.{(long)delay.TotalMilliseconds}",
                durable: true,
                exclusive: false,
                autoDelete: false,
                arguments
            );
        }

        foreach (var pattern in subscription.Patterns)
        {
            var topic = $"{prefix}.topics.{pattern.Topic}";
            if (subscription.Lanes is null)
                await channel.QueueBindAsync(queue, topic, pattern.Value);
            else
                await channel.ExchangeBindAsync(queue, topic, pattern.Value);
        }

        await WriteRecordAsync(channel, queue, subscription, state);
    }

    /// <summary>Removes what <see cref="DeclareAsync"/> made, as far as it is still there, and what a migration leaves.</summary>
    public static async Task DeleteAsync(IChannel channel, string prefix, Subscription subscription)
    {
        var queue = $"{prefix}.endpoints.{subscription.Endpoint}";
        foreach (
            var name in Enumerable
                .Range(0, subscription.Lanes ?? 0)
                .Select(lane => $"{queue}.lane.{lane}")
                .Concat(subscription.RetryDelays.Select(delay => $"{queue}.retry.{(long)delay.TotalMilliseconds}"))
                .Concat([queue, $"{queue}.record", $"{queue}.migration.backlog", $"{queue}.migration.meanwhile", $"{prefix}.dead-letters"])
        )
            await channel.QueueDeleteAsync(name);
        foreach (var exchange in new[] { queue, $"{queue}.keys" })
            await channel.ExchangeDeleteAsync(exchange);
    }

    private static async Task WriteRecordAsync(IChannel channel, string queue, Subscription subscription, string state)
    {
        var newest = Quorum();
        (newest["x-max-length"], newest["x-overflow"]) = (1, "drop-head");
        await channel.QueueDeclareAsync($"{queue}.record", durable: true, exclusive: false, autoDelete: false, newest);
        var delivery =
            subscription.Lanes is not null ? "OrderedByKey"
            : subscription.SingleActive ? "Ordered"
            : "Parallel";
        var patterns = string.Join(",", subscription.Patterns.Select(pattern => $"\"{pattern.Value}\""));
        var record = $$"""
        {"shape":{"delivery":"{{delivery}}","lanes":{{Json(subscription.Lanes)}},"type":"Quorum","maxLength":{{Json(
            subscription.Queue.MaxLength
        )}},"overflow":"RejectPublish"},
         "generations":[[{{patterns}}]],"delays":[{{string.Join(
            ",",
            subscription.RetryDelays.Select(delay => (long)delay.TotalMilliseconds)
        )}}],{{state}},"bound":[{{patterns}}]}
        """;
        await channel.BasicPublishAsync(
            "",
            $"{queue}.record",
            mandatory: true,
            new BasicProperties { Persistent = true },
            Encoding.UTF8.GetBytes(record)
        );
    }

    private static string Json(int? number) => number is { } value ? $"{value}" : "null";

    private static Dictionary<string, object?> Quorum() =>
        new()
        {
            ["x-queue-type"] = "quorum",
            ["x-overflow"] = "reject-publish",
            ["x-delivery-limit"] = 1_000_000,
        };

    private static Dictionary<string, object?> Limited(Subscription subscription)
    {
        var arguments = Quorum();
        if (subscription.Queue.MaxLength is { } most)
            arguments["x-max-length"] = most;
        return arguments;
    }

    private static Dictionary<string, object?> Alone(Dictionary<string, object?> arguments)
    {
        arguments["x-single-active-consumer"] = true;
        return arguments;
    }

    private static Dictionary<string, object?> DeadLetteringTo(string queue, Dictionary<string, object?> arguments)
    {
        (arguments["x-dead-letter-exchange"], arguments["x-dead-letter-routing-key"], arguments["x-dead-letter-strategy"]) = (
            "",
            queue,
            "at-least-once"
        );
        return arguments;
    }
}
