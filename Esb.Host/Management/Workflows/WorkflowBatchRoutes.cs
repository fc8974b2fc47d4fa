using Esb.Core.Workflows;

namespace Esb.Host.Management.Workflows;

/// <summary>Actions on many instances of workflows at once, and their migration to another definition.</summary>
internal static class WorkflowBatchRoutes
{
    private const double MostRate = 10_000;

    public static IEndpointRouteBuilder MapWorkflowBatchRoutes(this IEndpointRouteBuilder api, IServiceProvider bus)
    {
        var (batches, control) = (bus.GetRequiredService<IWorkflowBatches>(), bus.GetRequiredService<IWorkflowControl>());
        var workflows = api.MapGroup("/workflows");
        workflows.MapGet("/batches", () => new Page<WorkflowBatch>(batches.All));
        workflows.MapGet("/batches/{id}", (string id) => Find(batches.All.FirstOrDefault(batch => batch.Id == Problems.RequireId(id)), id));
        workflows.MapPost("/batches/{id}/stop", (string id) => Find(batches.Stop(Problems.RequireId(id)), id));
        workflows.MapPost(
            "/batches/preview",
            async (HttpRequest request, CancellationToken cancellationToken) =>
                new Page<WorkflowBatchGroup>(
                    await batches.PreviewAsync(await OrderOf(control, request, isPreview: true, cancellationToken), cancellationToken)
                )
        );
        workflows.MapPost(
            "/batches",
            async (HttpRequest request, CancellationToken cancellationToken) =>
                TypedResults.Accepted((string?)null, batches.Begin(await OrderOf(control, request, isPreview: false, cancellationToken)))
        );
        workflows.MapPost(
            "/migrations",
            (HttpRequest request, CancellationToken cancellationToken) => MigrateAsync(control, request, cancellationToken)
        );
        return api;
    }

    private static async Task<WorkflowMigration> MigrateAsync(
        IWorkflowControl control,
        HttpRequest request,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowMigrationBody>(request, cancellationToken);
        if (string.IsNullOrEmpty(body.Workflow))
            throw Problems.Parameter("workflow", "expected the name of a workflow");
        var decision = body.DryRun ? Operators.DecisionOf(request, body.Reason) : Operators.WithReason(request, body.Reason);
        return await control.MigrateAsync(body.Workflow, body.To, body.DryRun, decision, cancellationToken);
    }

    private static async Task<WorkflowBatchOrder> OrderOf(
        IWorkflowControl control,
        HttpRequest request,
        bool isPreview,
        CancellationToken cancellationToken
    )
    {
        var body = await JsonBody.ReadAsync<WorkflowBatchBody>(request, cancellationToken);
        if (body.Action is not { } action)
            throw Problems.Parameter("action", "expected retry, skip, terminate or fire");
        if (body.Rate is not (null or > 0 and <= MostRate))
            throw Problems.Parameter("rate", $"expected more than 0, and at most {MostRate}");
        if (body.StopAtFailureShare is not (null or > 0 and <= 1))
            throw Problems.Parameter("stopAtFailureShare", "expected more than 0, and at most 1");
        if (action == WorkflowAction.Terminate && body is { Name: null, Key: null, Step: null, Code: null, Before: null, State: null })
            throw Problems.Parameter("name", "to end instances expects at least one of name, state, step, code, key and before");
        var filter = new WorkflowQuery
        {
            Workflow = body.Name,
            States = body.State is { } state ? [state] : [],
            Keys = body.Key is { } key ? control.HashesOf(key, body.Name) : [],
            Step = body.Step,
            Code = body.Code,
            Before = body.Before,
        };
        var decision = isPreview ? Operators.DecisionOf(request, body.Reason) : Operators.WithReason(request, body.Reason);
        return new WorkflowBatchOrder(action, filter, decision)
        {
            Compensate = body.Compensate,
            Rate = body.Rate,
            StopAt = body.StopAtFailureShare,
        };
    }

    private static WorkflowBatch Find(WorkflowBatch? batch, string id) => batch ?? throw Problems.NotFound($"This host has no batch {id}.");
}

/// <summary>An action on every instance that the filter finds.</summary>
internal sealed record WorkflowBatchBody
{
    public WorkflowAction? Action { get; init; }

    public string? Name { get; init; }

    public WorkflowState? State { get; init; }

    public string? Step { get; init; }

    public string? Code { get; init; }

    /// <summary>A business key, <c>name=value</c>.</summary>
    public string? Key { get; init; }

    /// <summary>Only those that started before.</summary>
    public DateTimeOffset? Before { get; init; }

    public bool Compensate { get; init; }

    /// <summary>Instances per second at most.</summary>
    public double? Rate { get; init; }

    /// <summary>The share of failures, from 0 to 1, at which it stops.</summary>
    public double? StopAtFailureShare { get; init; }

    public string? Reason { get; init; }
}

/// <summary>Instances to move to another definition.</summary>
internal sealed record WorkflowMigrationBody
{
    public string? Workflow { get; init; }

    /// <summary>The hash of the definition, or its beginning; null for the one that starts instances.</summary>
    public string? To { get; init; }

    public bool DryRun { get; init; }

    public string? Reason { get; init; }
}
