using Esb.Core.Configuration.Settings;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Settings of the step <c>transaction</c>.</summary>
internal sealed record TransactionConfig : SettingsRecord
{
    [Setting("The database, one of connections.", Reference = "connections")]
    public required string Connection { get; init; }

    [Setting("The steps whose calls of that database, and whose publishes, happen all or not at all.")]
    public required IReadOnlyList<StepConfig> Steps { get; init; }

    [Setting("How long to wait for a free connection of the database.", Range = "1ms..1h")]
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(60);
}

/// <summary>Runs steps in a database transaction: their calls to that database and their publishes take effect together or not at all
/// (pattern: Transactional Outbox).</summary>
/// <remarks>A failure that no inner step catches rolls the transaction back. A step that ends the process, such as <c>respond</c> or
/// <c>filter</c>, commits it.</remarks>
internal sealed class TransactionStep(ITransactionSupport support) : StepFactory<TransactionConfig>
{
    public override string Kind => "transaction";

    protected override StepModel Compile(TransactionConfig settings, StepConfig step, IStepCompiler compiler)
    {
        if (support.ObstacleOf(settings.Connection) is { } obstacle)
            compiler.Errors.Add("ESB-CFG-TRANSACTION", settings, "connection", obstacle);
        var steps = compiler.Compile(settings.Steps);
        return new StepModel(step, $"transaction({settings.Connection}: {steps.Description})")
        {
            Traits = new StepTraits { Transaction = settings.IsSound("connection") ? settings.Connection : "" },
            Lists = [steps],
            Bind = services => Run(services.GetRequiredService<ITransactions>(), steps.Bind(services)),
        };

        MessageStep Run(ITransactions transactions, MessageStep run) =>
            async (context, cancellationToken) =>
            {
                await using var unitOfWork = await transactions.BeginAsync(settings.Connection, settings.Timeout, cancellationToken);
                var (published, message, status) = (
                    context.FirstPublish,
                    context.Message,
                    context.GetProperty(MessageContext.StatusProperty)
                );
                var isCommitting = false;
                context.UnitOfWork = unitOfWork;
                try
                {
                    await run(context, cancellationToken);
                    isCommitting = true;
                    await unitOfWork.CommitAsync(cancellationToken);
                }
                catch
                {
                    context.RestorePublished(published); // the publishes of the transaction are rolled back
                    if (isCommitting)
                        Reopen(context, message, status);
                    throw;
                }
                finally
                {
                    context.UnitOfWork = null;
                }
            };
    }

    // After a failed commit, steps that ended the process are undone as well: a handler of the failure continues with the state at the
    // start of the transaction.
    private static void Reopen(MessageContext context, EsbMessage message, object? status)
    {
        (context.Message, context.Outcome) = (message, ProcessOutcome.Running);
        context.SetProperty(MessageContext.StatusProperty, status);
    }
}
