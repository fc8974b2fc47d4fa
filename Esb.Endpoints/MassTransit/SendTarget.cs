namespace Esb.Endpoints.MassTransit;

/// <summary>Where messages are sent instead of being published.</summary>
/// <param name="Name">The name of the queue or the exchange.</param>
/// <param name="IsQueue">True for a queue, which needs no exchange.</param>
internal sealed record SendTarget(string Name, bool IsQueue)
{
    private const string Queue = "queue:";
    private const string Exchange = "exchange:";

    /// <summary>Parses <c>queue:NAME</c> and <c>exchange:NAME</c>; null for any other text.</summary>
    public static SendTarget? Parse(string? text) =>
        text switch
        {
            _ when text?.StartsWith(Queue, StringComparison.Ordinal) == true && MassTransitNames.IsEntity(text[Queue.Length..]) =>
                new SendTarget(text[Queue.Length..], IsQueue: true),
            _ when text?.StartsWith(Exchange, StringComparison.Ordinal) == true && MassTransitNames.IsEntity(text[Exchange.Length..]) =>
                new SendTarget(text[Exchange.Length..], IsQueue: false),
            _ => null,
        };
}
