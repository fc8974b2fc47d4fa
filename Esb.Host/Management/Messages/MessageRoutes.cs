using Esb.Audit.Journeys;
using Esb.Core.Audit;
using Esb.Core.Replays;

namespace Esb.Host.Management.Messages;

/// <summary>Finds recorded messages, shows the journey of a message, and replays messages.</summary>
internal static class MessageRoutes
{
    private const string PlainText = "text/plain; charset=utf-8";

    public static IEndpointRouteBuilder MapMessageRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var store = bus.GetRequiredService<IAuditStore>();
        api.MapGet("/messages", (HttpRequest request, CancellationToken cancellationToken) => FindAsync(store, request, cancellationToken));
        api.MapGet(
            "/messages/{id}",
            (string id, HttpRequest request, CancellationToken cancellationToken) => ShowAsync(store, id, request, cancellationToken)
        );
        var desk = bus.GetRequiredService<IAuditReplayDesk>();
        var replays = new AuditReplays(store, desk);
        api.MapPost(
            "/messages/{id}/replay",
            (string id, HttpRequest request, CancellationToken cancellationToken) =>
                ReplayAsync(desk, Problems.RequireId(id), request, cancellationToken)
        );
        api.MapPost(
            "/messages/replays",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var body = await JsonBody.ReadAsync<AuditReplaysBody>(request, cancellationToken);
                return await replays.ReplayAsync(
                    body,
                    Operators.CommandOf(request),
                    Operators.DecisionOf(request, body.Reason),
                    cancellationToken
                );
            }
        );
        api.MapPost(
            "/messages/replays/preview",
            async (HttpRequest request, CancellationToken cancellationToken) =>
                await replays.PreviewAsync(await JsonBody.ReadAsync<AuditReplaysBody>(request, cancellationToken), cancellationToken)
        );
        return api;
    }

    private static async Task<Page<AuditFactView>> FindAsync(IAuditStore store, HttpRequest request, CancellationToken cancellationToken)
    {
        var query = MessageParameters.Read(new QueryReader(request.Query));
        return AuditFactView.PageOf(
            query,
            await store.FindAsync(query, cancellationToken).Select(AuditFactView.Of).ToListAsync(cancellationToken)
        );
    }

    private static async Task<IResult> ShowAsync(IAuditStore store, string id, HttpRequest request, CancellationToken cancellationToken)
    {
        var messageId = Problems.RequireId(id);
        var format = new QueryReader(request.Query).Allow("format").Choice<JourneyFormat>("format") ?? JourneyFormat.Json;
        var facts = await JourneyReader.ReadAsync(
            store,
            messageId,
            format == JourneyFormat.Json ? JourneyView.MaxBodyBytes : 0,
            cancellationToken
        );
        if (facts.Count == 0)
            throw Problems.NotFound($"Nothing is recorded of a message {messageId}.");
        var journey = JourneyBuilder.Build(messageId, facts);
        return format switch
        {
            JourneyFormat.Json => TypedResults.Json(JourneyView.Of(journey)),
            JourneyFormat.Svg => TypedResults.Text(JourneyFormats.Draw(journey, format), "image/svg+xml; charset=utf-8"),
            _ => TypedResults.Text(JourneyFormats.Draw(journey, format), PlainText),
        };
    }

    private static async Task<IResult> ReplayAsync(
        IAuditReplayDesk desk,
        Guid messageId,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<AuditReplayBody>(request, cancellationToken);
        var replay = await desk.ReplayAsync(
            body.ToRequest(messageId, Operators.CommandOf(request)),
            Operators.DecisionOf(request, body.Reason),
            cancellationToken
        );
        return TypedResults.Accepted($"/api/messages/{messageId}", replay);
    }
}
