namespace Esb.Topics.RabbitMq.Farm;

/// <summary>A message between hosts: an ordinary typed message of the bus.</summary>
public sealed record FarmMessage
{
    /// <summary>The id of the sending host.</summary>
    public required Guid From { get; init; }

    /// <summary>The name of the sending host, for display.</summary>
    public required string Host { get; init; }

    /// <summary>The kind: <see cref="Heartbeat"/>, <see cref="Goodbye"/>, <see cref="Esb.Topics.Farm.FarmQuestions.AnswerKind"/>, or the
    /// name of a command or question.</summary>
    public required string Kind { get; init; }

    /// <summary>The content, as JSON.</summary>
    public required string Body { get; init; }

    /// <summary>The protocol level of the host: 0 for release 0.1, which finds queues only by names without the configuration's.</summary>
    public int Level { get; init; }

    /// <summary>The protocol level of this release.</summary>
    internal const int CurrentLevel = 1;

    /// <summary>The host is alive.</summary>
    internal const string Heartbeat = "heartbeat";

    /// <summary>The host stops.</summary>
    internal const string Goodbye = "goodbye";
}
