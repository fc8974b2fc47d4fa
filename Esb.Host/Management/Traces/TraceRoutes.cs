using Esb.Configuration;
using Esb.Configuration.Compiling;
using Esb.Core.Audit;
using Esb.Core.Configuration;
using Esb.Core.Endpoints;
using Esb.Core.Messages;
using Esb.Core.Processes.Tracing;
using Esb.Core.Storage;

namespace Esb.Host.Management.Traces;

/// <summary>Traces of endpoints on demand: what each step of their processes did with the messages that passed.</summary>
internal static class TraceRoutes
{
    /// <summary>The most conditions of a trace.</summary>
    public const int MostConditions = 10;

    public static IEndpointRouteBuilder MapTraceRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var farm = bus.GetRequiredService<FarmTraces>();
        var (audit, time) = (bus.GetRequiredService<IAuditTrail>(), bus.GetRequiredService<TimeProvider>());
        var live = bus.GetRequiredService<Live<BusModel>>();
        var traces = api.MapGroup("/traces");
        traces.MapGet("", (HttpRequest request, CancellationToken cancellationToken) => ListAsync(farm, request, cancellationToken));
        traces.MapGet(
            "/{id}",
            (string id, CancellationToken cancellationToken) => FindAsync(farm, Problems.RequireId(id), cancellationToken)
        );
        traces.MapGet(
            "/{id}/messages/{pass}",
            async (string id, string pass, CancellationToken cancellationToken) =>
                await farm.FindAsync(Problems.RequireId(id), Problems.RequireId(pass), cancellationToken)
                ?? throw Problems.NotFound($"No host has recorded {pass} in a trace {id}, or has it any more.")
        );
        traces.MapPost(
            "",
            async (HttpRequest request, CancellationToken cancellationToken) =>
            {
                var order = OrderOf(await JsonBody.ReadAsync<TraceBody>(request, cancellationToken), request, live.Current);
                farm.Check(order);
                await RecordAsync("start", order, order.By, order.Reason, cancellationToken);
                return TypedResults.Json(await farm.BeginAsync(order, cancellationToken), statusCode: StatusCodes.Status201Created);
            }
        );
        traces.MapDelete(
            "/{id}",
            async (string id, HttpRequest request, CancellationToken cancellationToken) =>
            {
                var trace = await FindAsync(farm, Problems.RequireId(id), cancellationToken);
                var decision = Operators.DecisionOf(request, reason: null);
                await farm.EndAsync(trace.Id, cancellationToken);
                var ended = await FindAsync(farm, trace.Id, cancellationToken);
                await RecordEndAsync(trace, decision, cancellationToken);
                return ended;
            }
        );
        return api;

        // Recorded first: a trace shows bodies only if the audit has a fact of it.
        async Task RecordAsync(string action, TraceOrder order, string by, string? reason, CancellationToken cancellationToken) =>
            await audit.RecordAsync(
                FactOf(
                    time,
                    order.Endpoint,
                    reason,
                    new Dictionary<string, string>
                    {
                        ["operator"] = by,
                        ["action"] = action,
                        ["trace"] = order.Id.ToString(),
                        ["for"] = $"{order.For.TotalSeconds}s",
                        ["count"] = $"{order.Count}",
                        ["where"] = string.Join(", ", order.Where),
                    }
                ),
                cancellationToken
            );

        async Task RecordEndAsync(TraceView trace, OperatorDecision decision, CancellationToken cancellationToken) =>
            await audit.RecordAsync(
                FactOf(
                    time,
                    trace.Endpoint,
                    decision.Reason,
                    new Dictionary<string, string>
                    {
                        ["operator"] = decision.By,
                        ["action"] = "end",
                        ["trace"] = trace.Id.ToString(),
                    }
                ),
                cancellationToken
            );
    }

    private static AuditFact FactOf(TimeProvider time, string endpoint, string? reason, Dictionary<string, string> fields) =>
        AuditFacts.Of(EsbMessage.Create(MessageBody.Empty, time), AuditKind.Recorded, time) with
        {
            Name = "trace",
            Endpoint = endpoint,
            Reason = reason,
            Fields = fields,
        };

    private static async Task<Page<TraceView>> ListAsync(FarmTraces farm, HttpRequest request, CancellationToken cancellationToken)
    {
        var message = new QueryReader(request.Query).Allow("message").Id("message");
        var all = await farm.AllAsync(cancellationToken);
        return message is null
            ? new Page<TraceView>(all)
            : new Page<TraceView>([
                .. all.Select(trace => trace with { Messages = [.. trace.Messages.Where(pass => pass.MessageId == message)] })
                    .Where(trace => trace.Messages.Count > 0),
            ]);
    }

    private static async Task<TraceView> FindAsync(FarmTraces farm, Guid id, CancellationToken cancellationToken) =>
        (await farm.AllAsync(cancellationToken)).FirstOrDefault(trace => trace.Id == id)
        ?? throw Problems.NotFound(
            $"There is no trace {id}; traces are forgotten an hour after their end, and when ten newer ones are there."
        );

    private static TraceOrder OrderOf(TraceBody body, HttpRequest request, BusModel model)
    {
        if (string.IsNullOrEmpty(body.Endpoint))
            throw Problems.Parameter("endpoint", "expected the name of an endpoint");
        var endpoints = model.Configuration.Named<EndpointConfig>("endpoints");
        if (!endpoints.TryGetValue(body.Endpoint, out var endpoint))
            throw Problems.NotFound($"There is no endpoint '{body.Endpoint}'{NearestName.Hint(body.Endpoint, endpoints.Keys)}");
        if (endpoint.Processes.Count == 0)
            throw Problems.Parameter("endpoint", $"expected one with a process; '{body.Endpoint}' has none, so that no step runs there");
        if (body.Count is < 1 or > TraceOrder.MostMessages)
            throw Problems.Parameter("count", $"expected 1 to {TraceOrder.MostMessages}");
        if (!Duration.TryParse(body.For, out var duration) || duration < TraceOrder.Shortest || duration > TraceOrder.Longest)
            throw Problems.Parameter("for", "expected a duration such as \"5m\", 1s to 1h");
        if (body.Where.Count > MostConditions)
            throw Problems.Parameter("where", $"expected at most {MostConditions} conditions");
        var where = body.Where.Select(text =>
            TraceCondition.Read(text) ?? throw Problems.Parameter("where", $"'{text}': expected name=value")
        );
        var decision = Operators.DecisionOf(request, body.Reason);
        return new TraceOrder(Guid.CreateVersion7(), body.Endpoint, [.. where], body.Count, duration, decision.By, decision.Reason);
    }
}
