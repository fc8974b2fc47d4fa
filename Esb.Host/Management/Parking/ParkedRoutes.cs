using System.Globalization;
using Esb.Core.Errors;
using Esb.Core.Replays;
using Microsoft.AspNetCore.Http.Features;

namespace Esb.Host.Management.Parking;

/// <summary>Shows parked and blocked messages, and carries out operators' decisions about them.</summary>
internal static class ParkedRoutes
{
    public static IEndpointRouteBuilder MapParkedRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var desk = bus.GetRequiredService<IParkingDesk>();
        var parked = api.MapGroup("/parked");
        parked.MapGet("", (HttpRequest request, CancellationToken cancellationToken) => ListAsync(desk, request, cancellationToken));
        parked.MapGet(
            "/{endpoint}/{line}",
            (string endpoint, HttpRequest request, CancellationToken cancellationToken) =>
                ShowAsync(desk, endpoint, request, cancellationToken)
        );
        parked.MapGet(
            "/{endpoint}/{line}/{id}/body",
            (string endpoint, string id, HttpRequest request, CancellationToken cancellationToken) =>
                ShowBodyAsync(desk, endpoint, id, request, cancellationToken)
        );
        parked.MapPost(
            "/{endpoint}/{line}/release",
            (string endpoint, HttpRequest request, CancellationToken cancellationToken) =>
                ReleaseAsync(desk, endpoint, request, cancellationToken)
        );
        parked.MapPost(
            "/{endpoint}/{line}/discard",
            (string endpoint, HttpRequest request, CancellationToken cancellationToken) =>
                DiscardAsync(desk, endpoint, request, cancellationToken)
        );
        return api;
    }

    private static async Task<Page<WaitingLineView>> ListAsync(IParkingDesk desk, HttpRequest request, CancellationToken cancellationToken)
    {
        var query = new QueryReader(request.Query).Allow("endpoint", "after", "limit");
        var limit = query.PageSize();
        var lines = await desk.ListAsync(query.Text("endpoint"), AfterOf(query), limit, cancellationToken);
        return new Page<WaitingLineView>([.. lines.Select(WaitingLineView.Of)], lines.Count == limit ? NextOf(lines[^1]) : null);
    }

    private static async Task<Page<WaitingMessage>> ShowAsync(
        IParkingDesk desk,
        string endpoint,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow("after", "limit");
        var (after, limit) = (query.Number("after"), query.PageSize());
        var messages = await desk.MessagesAsync(endpoint, KeyOf(request), after, limit, cancellationToken);
        if (messages.Count == 0 && after == 0)
            throw NothingWaits(endpoint);
        return new Page<WaitingMessage>(
            messages,
            messages.Count == limit && messages[^1].Number > 0 ? messages[^1].Number.ToString(CultureInfo.InvariantCulture) : null
        );
    }

    private static async Task<IResult> ShowBodyAsync(
        IParkingDesk desk,
        string endpoint,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        if (!Guid.TryParse(id, out var messageId))
            throw Problems.Parameter("id", "expected the id of a message");
        if (KeyOf(request) is not { } key)
            throw Problems.NotFound($"The message at which '{endpoint}' stands is still in its queue; its body cannot be shown.");
        var message = await desk.FindAsync(endpoint, key, messageId, cancellationToken) ?? throw NothingWaits(endpoint);
        return TypedResults.Bytes(message.Body.Bytes, "application/octet-stream", messageId.ToString());
    }

    private static async Task<IResult> ReleaseAsync(
        IParkingDesk desk,
        string endpoint,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var key = KeyOf(request);
        var body = await JsonBody.ReadAsync<DeadLetters.ReasonBody>(request, cancellationToken);
        return await desk.ReleaseAsync(endpoint, key, Operators.DecisionOf(request, body.Reason), cancellationToken)
            ? TypedResults.Accepted((string?)null, new ReleaseReceipt(endpoint, LineName.Of(key)))
            : throw NothingWaits(endpoint);
    }

    private static async Task<DeadLetters.DiscardReceipt> DiscardAsync(
        IParkingDesk desk,
        string endpoint,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var key = KeyOf(request);
        var body = await JsonBody.ReadAsync<DiscardParkedBody>(request, cancellationToken);
        if (body.MessageId is null && !body.All)
            throw Problems.Parameter("messageId", "expected the message to discard, or \"all\": true for the whole line");
        var count = await desk.DiscardAsync(endpoint, key, body.MessageId, Operators.WithReason(request, body.Reason), cancellationToken);
        return count > 0 ? new DeadLetters.DiscardReceipt(count) : throw NothingWaits(endpoint);
    }

    private static string NextOf(WaitingLine line) => $"{line.Since.UtcTicks}~{line.Endpoint}~{LineName.Of(line.Key)}";

    private static WaitingPosition? AfterOf(QueryReader query)
    {
        if (query.Text("after") is not { } text)
            return null;
        return
            text.Split('~', 3) is [var ticks, var endpoint, var line]
            && long.TryParse(ticks, NumberStyles.None, CultureInfo.InvariantCulture, out var since)
            && since <= DateTimeOffset.MaxValue.UtcTicks
            ? new WaitingPosition(new DateTimeOffset(since, TimeSpan.Zero), endpoint, LineName.KeyOf(line))
            : throw Problems.Parameter("after", "expected what the page before calls next");
    }

    // Reads the raw path: a key may contain a slash, which routing does not decode.
    private static string? KeyOf(HttpRequest request)
    {
        var target = request.HttpContext.Features.GetRequiredFeature<IHttpRequestFeature>().RawTarget;
        var segments = target.Split('?')[0].Split('/'); // "", api, parked, endpoint, line
        return segments.Length > 4
            ? LineName.KeyOf(Uri.UnescapeDataString(segments[4]))
            : throw Problems.Parameter("line", "expected the line of a key");
    }

    private static EsbException NothingWaits(string endpoint) => Problems.NotFound($"No such message waits at '{endpoint}'.");
}

/// <summary>The messages of a line to discard, with the reason.</summary>
internal sealed record DiscardParkedBody
{
    public Guid? MessageId { get; init; }

    /// <summary>All messages of the line.</summary>
    public bool All { get; init; }

    public string? Reason { get; init; }
}

/// <summary>The line that is retried.</summary>
internal sealed record ReleaseReceipt(string Endpoint, string Line);
