using System.Security.Cryptography;
using System.Text;
using Esb.Core.Audit;
using Esb.Core.Configuration.Settings;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Deduplication;

/// <summary>Settings of the step <c>dedupe</c>.</summary>
internal sealed record DedupeConfig : SettingsRecord
{
    [Setting("The value by which two messages count as the same; a message without the value always passes.")]
    public required ValueConfig Key { get; init; }

    [Setting("How long a message is remembered.", Range = "1s..365d")]
    public TimeSpan For { get; init; } = TimeSpan.FromDays(7);

    [Setting("What a repetition means: it is accepted as the first was, without the steps behind; or it is refused.")]
    public DuplicateMeaning OnDuplicate { get; init; }
}

/// <summary>Meanings of a repetition.</summary>
internal enum DuplicateMeaning
{
    /// <summary>It is accepted, and does nothing.</summary>
    Accept,

    /// <summary>It is refused.</summary>
    Refuse,
}

/// <summary>Lets each message pass once (pattern: Idempotent Receiver). A message is remembered when its process has succeeded.</summary>
internal sealed class DedupeStep : StepFactory<DedupeConfig>
{
    public override string Kind => "dedupe";

    protected override StepModel Compile(DedupeConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var key = compiler.Expressions.Compile(settings.Key, compiler.Errors);
        if (compiler.IsWorkflow)
            compiler.Errors.Add("ESB-CFG-VALUE", step.Path, "only a process waits for its end; a workflow has correlation", step.Origin);
        return new StepModel(step, "dedupe")
        {
            Traits = new StepTraits
            {
                Streams = true,
                Values = [settings.Key],
                AwaitsEnd = true,
            },
            Bind = key is null ? null : services => Run(settings, step.Place, key, services),
        };
    }

    private static MessageStep Run(DedupeConfig settings, string place, IMessageValue key, IServiceProvider services)
    {
        var (keys, marks, time) = (
            services.GetRequiredService<IIdempotencyKeys>(),
            services.GetRequiredService<IEndpointMarks>(),
            services.GetRequiredService<TimeProvider>()
        );
        var (audit, logger) = (services.GetService<IAuditTrail>(), services.GetRequiredService<ILogger<MessageClaim>>());
        return async (context, cancellationToken) =>
        {
            if (MessageValues.AsText(key.Evaluate(context)) is not { } value)
                return;
            var hash = SHA256.HashData(Encoding.UTF8.GetBytes(value));
            var name = $"dedupe {place} {Convert.ToHexStringLower(hash)}";
            if (await marks.FindAsync(context.Endpoint, name, cancellationToken) is null)
            {
                var claim =
                    await keys.ClaimAsync(new IdempotencyKey(context.Endpoint, Client: null, name), hash, cancellationToken)
                        as KeyClaim.Granted
                    ?? throw Running();
                var ending = new MessageClaim(claim, settings.For, keys, marks, time, logger);
                context.End!.Add(ending);
                if (await marks.FindAsync(context.Endpoint, name, cancellationToken) is null)
                    return; // not remembered by the one that had the claim before
                ending.Forgo();
            }

            await RefuseAsync(settings, place, context, audit, time);
        };
    }

    private static async ValueTask RefuseAsync(
        DedupeConfig settings,
        string place,
        MessageContext context,
        IAuditTrail? audit,
        TimeProvider time
    )
    {
        const string Code = "ESB-DEDUPE-DUPLICATE";
        const string Reason = "A message with the same key was processed before.";
        if (settings.OnDuplicate == DuplicateMeaning.Refuse)
            throw new EsbException(Code, Reason, FaultKind.Invalid) { Status = 409 };
        if (audit is not null)
        {
            var fact = AuditFacts.Of(context.Received, AuditKind.Duplicate, time) with
            {
                Endpoint = context.Endpoint,
                Process = context.Process,
                Step = place,
                Code = Code,
                Reason = Reason,
            };
            await audit.RecordAsync(fact, CancellationToken.None);
        }

        context.Outcome = ProcessOutcome.Filtered;
    }

    private static EsbException Running() =>
        new("ESB-DEDUPE-RUNNING", "A message with the same key is being processed.", FaultKind.Unavailable)
        {
            RetryAfter = TimeSpan.FromSeconds(1),
        };
}
