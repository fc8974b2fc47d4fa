using Esb.Core.Workflows;

namespace Esb.Host.Management.Workflows;

/// <summary>Shows instances of workflows, and carries out operators' decisions about them.</summary>
internal static class WorkflowRoutes
{
    public static IEndpointRouteBuilder MapWorkflowRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (store, control) = (bus.GetRequiredService<IWorkflowStore>(), bus.GetRequiredService<IWorkflowControl>());
        var workflows = api.MapGroup("/workflows");
        workflows.MapGet(
            "",
            (HttpRequest request, CancellationToken cancellationToken) => ListAsync(store, control, request, cancellationToken)
        );
        workflows.MapGet("/definitions", (CancellationToken cancellationToken) => DefinitionsAsync(store, control, cancellationToken));
        workflows.MapGet("/{id}", (string id, CancellationToken cancellationToken) => ShowAsync(store, control, id, cancellationToken));
        workflows.MapGet(
            "/{id}/history",
            (string id, HttpRequest request, CancellationToken cancellationToken) => HistoryAsync(store, id, request, cancellationToken)
        );
        workflows.MapGet(
            "/{id}/diagram",
            (string id, HttpRequest request, CancellationToken cancellationToken) =>
                DrawAsync(store, control, id, request, cancellationToken)
        );
        workflows.MapPost(
            "/{id}/retry",
            (string id, HttpRequest request, CancellationToken cancellationToken) =>
                RetryAsync(control, id, skip: false, request, cancellationToken)
        );
        workflows.MapPost(
            "/{id}/skip",
            (string id, HttpRequest request, CancellationToken cancellationToken) =>
                RetryAsync(control, id, skip: true, request, cancellationToken)
        );
        workflows.MapPost(
            "/{id}/terminate",
            (string id, HttpRequest request, CancellationToken cancellationToken) => TerminateAsync(control, id, request, cancellationToken)
        );
        workflows.MapPost(
            "/{id}/fire",
            (string id, HttpRequest request, CancellationToken cancellationToken) => FireAsync(control, id, request, cancellationToken)
        );
        workflows.MapPatch(
            "/{id}/variables",
            (string id, HttpRequest request, CancellationToken cancellationToken) =>
                SetVariablesAsync(control, id, request, cancellationToken)
        );
        return api;
    }

    private static async Task<Page<WorkflowInstanceView>> ListAsync(
        IWorkflowStore store,
        IWorkflowControl control,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow("state", "name", "key", "step", "code", "before", "after", "limit");
        var limit = query.PageSize();
        var name = query.Text("name");
        var filter = new WorkflowQuery
        {
            Workflow = name,
            States = query.Choice<WorkflowState>("state") is { } state ? [state] : [],
            Keys = query.Text("key") is { } key ? control.HashesOf(key, name) : [],
            Step = query.Text("step"),
            Code = query.Text("code"),
            Before = query.Time("before"),
            After = query.Id("after"),
            Limit = limit,
        };
        var found = await store.ListAsync(filter, cancellationToken);
        return new Page<WorkflowInstanceView>(
            [.. found.Select(WorkflowInstanceView.Of)],
            found.Count == limit ? found[^1].Id.ToString() : null
        );
    }

    private static async Task<Page<WorkflowDefinitionView>> DefinitionsAsync(
        IWorkflowStore store,
        IWorkflowControl control,
        CancellationToken cancellationToken
    )
    {
        var counts = await store.CountAsync(cancellationToken);
        return new Page<WorkflowDefinitionView>([
            .. control.Definitions.Select(definition => new WorkflowDefinitionView(
                definition.Workflow,
                definition.Hash,
                definition.IsCurrent,
                definition.Description,
                CountsOf(counts, definition.Hash)
            )),
        ]);
    }

    private static async Task<WorkflowInstanceView> ShowAsync(
        IWorkflowStore store,
        IWorkflowControl control,
        string id,
        CancellationToken cancellationToken
    )
    {
        var instance = await FindAsync(store, id, cancellationToken);
        return WorkflowInstanceView.Of(instance) with { Details = control.DetailsOf(instance) };
    }

    private static async Task<Page<WorkflowEventView>> HistoryAsync(
        IWorkflowStore store,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var query = new QueryReader(request.Query).Allow("after", "limit");
        var (after, limit) = (query.Integer("after", 0, int.MaxValue, 0), query.PageSize());
        var instance = await FindAsync(store, id, cancellationToken);
        var lines = await store.HistoryAsync(instance.Id, after, limit, cancellationToken);
        return new Page<WorkflowEventView>([.. lines.Select(WorkflowEventView.Of)], lines.Count == limit ? $"{lines[^1].Version}" : null);
    }

    private static async Task<IResult> DrawAsync(
        IWorkflowStore store,
        IWorkflowControl control,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var format = new QueryReader(request.Query).Allow("format").Text("format") ?? "mermaid";
        if (format is not ("mermaid" or "svg"))
            throw Problems.Parameter("format", "expected mermaid or svg");
        var instance = await FindAsync(store, id, cancellationToken);
        var definition =
            control.Definitions.FirstOrDefault(one => one.Hash == instance.Definition)
            ?? throw Problems.NotFound($"The definition {instance.Definition[..12]} of the instance is not available.");
        var counts = CountsOf(await store.CountAsync(cancellationToken), instance.Definition);
        return format == "svg"
            ? TypedResults.Text(WorkflowDiagram.Svg(definition, instance, counts), "image/svg+xml")
            : TypedResults.Text(WorkflowDiagram.Mermaid(definition, instance, counts), "text/plain");
    }

    private static async Task<WorkflowInstanceView> RetryAsync(
        IWorkflowControl control,
        string id,
        bool skip,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowActionBody>(request, cancellationToken);
        return WorkflowInstanceView.Of(
            await control.RetryAsync(Problems.RequireId(id), skip, Operators.DecisionOf(request, body.Reason), cancellationToken)
        );
    }

    private static async Task<WorkflowInstanceView> TerminateAsync(
        IWorkflowControl control,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowActionBody>(request, cancellationToken);
        return WorkflowInstanceView.Of(
            await control.TerminateAsync(
                Problems.RequireId(id),
                body.Compensate,
                Operators.WithReason(request, body.Reason),
                cancellationToken
            )
        );
    }

    private static async Task<WorkflowInstanceView> FireAsync(
        IWorkflowControl control,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowActionBody>(request, cancellationToken);
        return WorkflowInstanceView.Of(
            await control.FireAsync(Problems.RequireId(id), Operators.DecisionOf(request, body.Reason), cancellationToken)
        );
    }

    private static async Task<WorkflowInstanceView> SetVariablesAsync(
        IWorkflowControl control,
        string id,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowVariablesBody>(request, cancellationToken);
        if (body.Variables.Count == 0)
            throw Problems.Parameter("variables", "expected at least one");
        return WorkflowInstanceView.Of(
            await control.SetVariablesAsync(
                Problems.RequireId(id),
                body.Variables,
                Operators.WithReason(request, body.Reason),
                cancellationToken
            )
        );
    }

    private static async Task<WorkflowInstance> FindAsync(IWorkflowStore store, string id, CancellationToken cancellationToken) =>
        await store.FindAsync(Problems.RequireId(id), cancellationToken) ?? throw Problems.NotFound($"There is no instance {id}.");

    private static Dictionary<string, long> CountsOf(IEnumerable<WorkflowCount> counts, string definition) =>
        counts
            .Where(count => count.Definition == definition)
            .SelectMany(count => count.Step.Split(", ", StringSplitOptions.RemoveEmptyEntries), (count, step) => (step, count.Count))
            .GroupBy(pair => pair.step)
            .ToDictionary(group => group.Key, group => group.Sum(pair => pair.Count));
}
