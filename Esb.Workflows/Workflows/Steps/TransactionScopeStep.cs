using System.Text.Json;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Workflows.Workflows.Engine;
using Esb.Workflows.Workflows.State;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Workflows.Steps;

/// <summary>The steps of a scope that run in one transaction.</summary>
/// <param name="Scope">The scope.</param>
internal sealed record TransactionScopeConfig(ScopeConfig Scope) : SettingsRecord;

/// <summary>Runs the steps of a <c>scope</c> in a database transaction, which also keeps their result: a crash before the checkpoint finds
/// it, and does not run them again.</summary>
internal sealed class TransactionScopeStep(ITransactionSupport support) : StepFactory<TransactionScopeConfig>
{
    public const string Name = "transaction scope";

    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(60);

    public override string Kind => Name;

    protected override StepModel Compile(TransactionScopeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var (scope, connection) = (settings.Scope, settings.Scope.Transaction!);
        if (support.ObstacleOf(connection) is { } obstacle)
            compiler.Errors.Add("ESB-CFG-TRANSACTION", scope, "transaction", obstacle);
        var steps = compiler.Compile(scope.Steps);
        return new StepModel(step, $"transaction({connection}: {steps.Description})")
        {
            Traits = new StepTraits { Transaction = connection },
            Lists = [steps],
            Bind = services => Run(services.GetRequiredService<ITransactions>(), connection, steps.Bind(services)),
        };
    }

    private static MessageStep Run(ITransactions transactions, string connection, MessageStep run) =>
        async (context, cancellationToken) =>
        {
            var id =
                context.Origin
                ?? throw new EsbException("ESB-WFL-PLACE", "A scope with a transaction runs in workflows only.", FaultKind.Internal);
            await using var unitOfWork = await transactions.BeginAsync(connection, LongestWait, cancellationToken);
            if (await unitOfWork.FindResultAsync(id, cancellationToken) is { } known)
            {
                TransactionResult.Read(known).ApplyTo(context);
                return;
            }

            var published = context.FirstPublish;
            context.UnitOfWork = unitOfWork;
            try
            {
                await run(context, cancellationToken);
                await context.Message.Body.BufferAsync(InstanceVariables.LargestSum, cancellationToken);
                await unitOfWork.KeepResultAsync(id, TransactionResult.Of(context).Write(), cancellationToken);
                await unitOfWork.CommitAsync(cancellationToken);
            }
            catch
            {
                context.RestorePublished(published); // the publishes of the transaction are rolled back
                throw;
            }
            finally
            {
                context.UnitOfWork = null;
            }
        };
}

/// <summary>What a scope has made of the message and the variables.</summary>
internal sealed record TransactionResult
{
    public required StoredMessage Message { get; init; }

    public required ProcessOutcome Outcome { get; init; }

    public Dictionary<string, StoredValue> Properties { get; init; } = [];

    /// <summary>Changed variables; null for one that was removed.</summary>
    public Dictionary<string, StoredValue?> Variables { get; init; } = [];

    public static TransactionResult Of(MessageContext context) =>
        new()
        {
            Message = StoredMessage.Of(context.Message),
            Outcome = context.Outcome,
            Properties = context.Properties.ToDictionary(property => property.Key, property => StoredValue.Of(property.Value)),
            Variables = (context.Variables as InstanceVariables)?.Changed ?? [],
        };

    public byte[] Write() => JsonSerializer.SerializeToUtf8Bytes(this, WorkflowJson.Default.TransactionResult);

    public static TransactionResult Read(byte[] stored) => JsonSerializer.Deserialize(stored, WorkflowJson.Default.TransactionResult)!;

    public void ApplyTo(MessageContext context)
    {
        context.Message = Message.ToMessage();
        context.Outcome = Outcome;
        foreach (var name in context.Properties.Keys.Except(Properties.Keys).ToList())
            context.SetProperty(name, null);
        foreach (var (name, value) in Properties)
            context.SetProperty(name, value.ToValue());
        foreach (var (name, value) in Variables)
            context.Variables?.Set(name, value?.ToValue());
    }
}
