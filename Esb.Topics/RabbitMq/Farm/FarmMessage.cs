namespace Esb.Topics.RabbitMq.Farm;

/// <summary>What hosts tell each other: an ordinary typed message of the bus.</summary>
public sealed record FarmMessage
{
    /// <summary>The host that says it.</summary>
    public required Guid From { get; init; }

    /// <summary>Its name, for people.</summary>
    public required string Host { get; init; }

    /// <summary>What it says: <see cref="Heartbeat"/>, <see cref="Goodbye"/>, <see cref="Esb.Topics.Farm.FarmQuestions.AnswerKind"/>, or the name of a command or question.</summary>
    public required string Kind { get; init; }

    /// <summary>JSON.</summary>
    public required string Body { get; init; }

    /// <summary>What the host knows: 0 of release 0.1, which finds queues by their names without the configuration's only.</summary>
    public int Level { get; init; }

    /// <summary>What hosts of this release know.</summary>
    internal const int CurrentLevel = 1;

    /// <summary>It lives.</summary>
    internal const string Heartbeat = "heartbeat";

    /// <summary>It stops.</summary>
    internal const string Goodbye = "goodbye";
}
