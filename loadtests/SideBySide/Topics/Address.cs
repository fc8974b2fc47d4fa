namespace SideBySide.Topics;

/// <summary>Where orders are published.</summary>
internal sealed record Address(string Exchange, string RoutingKey)
{
    /// <summary>Whether each order has its number as its order key.</summary>
    public bool IsKeyed { get; init; }
}
