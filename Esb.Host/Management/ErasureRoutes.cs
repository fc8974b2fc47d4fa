using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Erases recorded bodies on request; the requester and the reason stay on record.</summary>
internal static class ErasureRoutes
{
    public static IEndpointRouteBuilder MapErasureRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        api.MapPost(
            "/messages/{id}/erase",
            (string id, HttpRequest request, CancellationToken cancellationToken) => EraseAsync(bus, id, request, cancellationToken)
        );
        return api;
    }

    // The record is written first: a body missing without a record counts as tampering. It is also written for an unknown message, because
    // its facts may still wait on a host.
    private static async Task<EraseReceipt> EraseAsync(
        IServiceProvider bus,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var messageId = Problems.RequireId(id);
        var decision = Operators.WithReason(request, (await JsonBody.ReadAsync<EraseBody>(request, cancellationToken)).Reason);
        var store = bus.GetRequiredService<IAuditStore>();
        var eraser = bus.GetRequiredService<IAuditEraser>();
        if (await eraser.IsErasedAsync(messageId, cancellationToken))
            return new EraseReceipt(0, IsKnown: true);

        var known = await store
            .FindAsync(
                new AuditQuery
                {
                    MessageId = messageId,
                    Limit = 1,
                    WithBodies = false,
                },
                cancellationToken
            )
            .FirstOrDefaultAsync(cancellationToken);
        var time = bus.GetRequiredService<TimeProvider>();
        var message = new EsbMessage
        {
            Id = messageId,
            ConversationId = known?.ConversationId ?? messageId,
            CreatedAt = time.GetUtcNow(),
        };
        var fact = AuditFacts.Of(message, AuditKind.Erased, time) with
        {
            Reason = decision.Reason,
            Host = AuditFacts.Host,
            Revision = bus.GetRequiredService<Live<RevisionIdentity>>().Current.Id,
            Fields = new Dictionary<string, string> { ["operator"] = decision.By },
        };
        await store.AppendAsync([fact], cancellationToken); // directly in the store, not in the local queue
        return new EraseReceipt(await eraser.EraseBodiesAsync(messageId, CancellationToken.None), known is not null);
    }
}

/// <summary>The reason for an erasure.</summary>
internal sealed record EraseBody
{
    public string? Reason { get; init; }
}

/// <summary>The result of an erasure.</summary>
/// <param name="Erased">The number of erased bodies. Bodies still on their way are erased on arrival.</param>
/// <param name="IsKnown">True if anything was recorded about the message.</param>
internal sealed record EraseReceipt(long Erased, bool IsKnown);
