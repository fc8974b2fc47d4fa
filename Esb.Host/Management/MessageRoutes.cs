using Esb.Core.Audit;

namespace Esb.Host.Management;

/// <summary>Finds messages by what is recorded of them, and shows the way of one.</summary>
internal static class MessageRoutes
{
    private const int MaxLimit = 1_000;
    private const int DefaultLimit = 100;

    public static IEndpointRouteBuilder MapMessageRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var store = bus.GetRequiredService<IAuditStore>();
        api.MapGet("/messages", (HttpRequest request, CancellationToken cancellationToken) => FindAsync(store, QueryOf(request), cancellationToken));
        api.MapGet("/messages/{id}", (string id, CancellationToken cancellationToken) => GetJourneyAsync(store, id, cancellationToken));
        return api;
    }

    private static AuditQuery QueryOf(HttpRequest request)
    {
        var query = new QueryReader(request.Query).Allow("where", "endpoint", "kind", "from", "to", "before", "limit");
        return new AuditQuery
        {
            Where = query.Pairs("where"),
            Endpoint = query.Text("endpoint"),
            Kind = query.Choice<AuditKind>("kind"),
            From = query.Time("from"),
            To = query.Time("to"),
            Before = query.Id("before"),
            Limit = query.Integer("limit", 1, MaxLimit, DefaultLimit),
        };
    }

    private static async Task<Page<AuditFactView>> FindAsync(IAuditStore store, AuditQuery query, CancellationToken cancellationToken)
    {
        var facts = await store.FindAsync(query, cancellationToken).Select(AuditFactView.Of).ToListAsync(cancellationToken);
        return new Page<AuditFactView>(facts, Next: facts.Count == query.Limit ? facts[^1].Id.ToString() : null);
    }

    private static async Task<Page<AuditFactView>> GetJourneyAsync(IAuditStore store, string id, CancellationToken cancellationToken)
    {
        if (!Guid.TryParse(id, out var messageId)) throw Problems.Parameter("id", "expected a UUID");
        var facts = await store.GetJourneyAsync(messageId, cancellationToken);
        return facts.Count > 0 ? new Page<AuditFactView>([.. facts.Select(AuditFactView.WithBody)]) : throw Problems.NotFound($"Nothing is recorded of a message {messageId}.");
    }
}
