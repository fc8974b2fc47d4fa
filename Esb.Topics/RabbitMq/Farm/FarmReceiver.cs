namespace Esb.Topics.RabbitMq.Farm;

/// <summary>What a host receives for an endpoint, as it tells the others.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Patterns">What its configuration subscribes to.</param>
/// <param name="Epoch">A new value each time that it began to consume; null while it does not.</param>
internal sealed record FarmReceiver(string Endpoint, IReadOnlyList<string> Patterns, Guid? Epoch)
{
    /// <summary>Whether both say the same; the patterns one by one.</summary>
    public bool Says(FarmReceiver other) => Endpoint == other.Endpoint && Epoch == other.Epoch && Patterns.SequenceEqual(other.Patterns);
}
