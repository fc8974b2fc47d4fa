using Esb.Configuration;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Messages;
using Esb.Core.Storage;

namespace Esb.Host.Management;

/// <summary>Erases recorded bodies on request: who asked and why stays on record.</summary>
internal static class ErasureRoutes
{
    public static IEndpointRouteBuilder MapErasureRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        api.MapPost("/messages/{id}/erase", (string id, HttpRequest request, CancellationToken cancellationToken) => EraseAsync(bus, id, request, cancellationToken));
        return api;
    }

    // The record comes first: a body that is gone without one counts as removed by force. It is made of a message that nothing is known of, too: its facts may wait on a host.
    private static async Task<EraseReceipt> EraseAsync(IServiceProvider bus, string id, HttpRequest request, CancellationToken cancellationToken)
    {
        var messageId = Problems.RequireId(id);
        var decision = Operators.WithReason(request, (await JsonBody.ReadAsync<EraseBody>(request, cancellationToken)).Reason);
        var store = bus.GetRequiredService<IAuditStore>();
        var eraser = bus.GetRequiredService<IAuditEraser>();
        if (await eraser.IsErasedAsync(messageId, cancellationToken)) return new EraseReceipt(0, IsKnown: true);

        var known = await store.FindAsync(new AuditQuery { MessageId = messageId, Limit = 1, WithBodies = false }, cancellationToken).FirstOrDefaultAsync(cancellationToken);
        var time = bus.GetRequiredService<TimeProvider>();
        var message = new EsbMessage { Id = messageId, ConversationId = known?.ConversationId ?? messageId, CreatedAt = time.GetUtcNow() };
        var fact = AuditFacts.Of(message, AuditKind.Erased, time) with
        {
            Reason = decision.Reason,
            Host = AuditFacts.Host,
            Revision = bus.GetRequiredService<Live<RevisionIdentity>>().Current.Id,
            Fields = new Dictionary<string, string> { ["operator"] = decision.By },
        };
        await store.AppendAsync([fact], cancellationToken); // in the store itself, not on its way there
        return new EraseReceipt(await eraser.EraseBodiesAsync(messageId, CancellationToken.None), known is not null);
    }
}

/// <summary>Why bodies are erased.</summary>
internal sealed record EraseBody
{
    public string? Reason { get; init; }
}

/// <summary>What was erased.</summary>
/// <param name="Erased">How many bodies. Those that are on their way are erased as they arrive.</param>
/// <param name="IsKnown">Whether anything had been recorded of the message.</param>
internal sealed record EraseReceipt(long Erased, bool IsKnown);
