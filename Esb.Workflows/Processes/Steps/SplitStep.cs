using Esb.Configuration;
using Esb.Content.Splitting;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Workflows.Running;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps;

/// <summary>Runs steps with each item of the body (pattern: Splitter). Items run one after the other, in their order, unless several may
/// run at once.</summary>
internal sealed class SplitStep(SplitterCompiler splitters, LimitsConfig limits) : StepFactory<SplitConfig>
{
    private const int LongBody = 4096;

    public override string Kind => "split";

    protected override StepModel Compile(SplitConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var splitter = CompileSplitter(settings, compiler);
        var divide = Division(settings, splitter, compiler);
        var steps = compiler.Compile(settings.Steps);
        if (settings.Steps.Count == 0 && settings.IsSound("steps"))
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "steps", "expected at least one step");
        var isJoint = settings.Mode == SplitMode.AllOrNothing;
        if (isJoint && settings.MaxFailed is not null)
            compiler.Errors.Add(
                "ESB-CFG-VALUE",
                settings,
                "maxFailed",
                "expected beside \"mode\": \"each\"; here the first that fails decides"
            );
        if (isJoint && compiler.IsWorkflow)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "mode", "a workflow commits its steps itself: expected \"each\"");
        CheckConcurrency(settings, steps, compiler);
        return new StepModel(step, $"split({settings.Format ?? settings.Jsonpath ?? settings.Xpath ?? "entries"}: {steps.Description})")
        {
            Traits = new StepTraits
            {
                Divides = true,
                StoresPublishes = isJoint,
                Streams = splitter is { CanStream: true },
                ReplacesBody = settings.Gather is not null,
                Reads =
                    settings.Xpath is not null ? new BodyReading(settings, "xpath", MadeKind.Xml)
                    : settings.Jsonpath is not null ? new BodyReading(settings, "jsonpath", MadeKind.Json)
                    : null,
            },
            Lists = [steps],
            Bind = divide is null ? null : services => Run(settings, divide, step.Place, steps.Bind(services), services),
        };
    }

    private static void CheckConcurrency(SplitConfig settings, StepListModel steps, IStepCompiler compiler)
    {
        if (settings.MaxConcurrentItems == 1)
            return;
        var flaw =
            settings.Mode == SplitMode.AllOrNothing ? "expected beside \"mode\": \"each\", which has no common order to keep"
            : compiler.IsWorkflow ? "expected in a process: a workflow makes a checkpoint for each item"
            : steps.Descend().Any(step => step.Traits.ChangesState.Count > 0)
                ? "expected beside steps that change no state: of items at once, the last would win"
            : null;
        if (flaw is not null)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "maxConcurrentItems", flaw);
    }

    private MessageStep Run(
        SplitConfig settings,
        Func<MessageContext, IEnumerable<SplitItem>> divide,
        string place,
        MessageStep steps,
        IServiceProvider services
    )
    {
        var time = services.GetRequiredService<TimeProvider>();
        var items = new SplitItems(place, steps, services.GetRequiredService<IDeadLetterChannel>(), time);
        var (marks, audit) = (services.GetService<IEndpointMarks>(), services.GetService<IAuditTrail>());
        var outbox =
            settings.Mode == SplitMode.AllOrNothing
                ? (Store: services.GetRequiredService<IOutboxStore>(), Publisher: services.GetRequiredService<OutboxPublisher>())
                : default;
        var (definitions, earlier) = (services.GetRequiredService<SplitDefinitions>(), services.GetRequiredService<EarlierSplits>());
        return async (context, cancellationToken) =>
        {
            var division = context.PeekDivision(place);
            var progress =
                marks is not null && KeepsPlace(settings, context)
                    ? new SplitProgress(
                        marks,
                        time,
                        context.Endpoint,
                        context.PartId(division, -1).ToString(),
                        definitions.Of(context.Process),
                        earlier
                    )
                    : null;
            if (progress is not null && await FindEarlierAsync(progress, cancellationToken) is { } begun)
            {
                await begun(context, cancellationToken);
                return;
            }

            context.NextDivision(place);
            await new SplitRun(
                divide,
                items,
                settings,
                4 * limits.MaxBodySize.Bytes,
                settings.Mode == SplitMode.Each
                    ? null
                    : new SplitCommit(outbox.Store, outbox.Publisher, context.PartId(division, -1), 4 * limits.MaxBodySize.Bytes),
                progress,
                fact => audit?.RecordAsync(fact, CancellationToken.None) ?? ValueTask.CompletedTask
            ).RunAsync(context, division, time, cancellationToken);
        };

        // An interchange continues as it began, even if the configuration has changed.
        async ValueTask<MessageStep?> FindEarlierAsync(SplitProgress progress, CancellationToken cancellationToken)
        {
            await progress.ReadAsync(cancellationToken);
            return progress.EarlierDefinition is { } definition ? await earlier.FindAsync(definition, place, cancellationToken) : null;
        }
    }

    // A short body is done sooner than its place is kept; results that are gathered, and what a transaction undoes, begin anew.
    private static bool KeepsPlace(SplitConfig settings, MessageContext context) =>
        settings is { Gather: null }
        && context.UnitOfWork is null
        && context.Outbox is null
        && (settings.Mode == SplitMode.AllOrNothing || settings.Entries == true || context.Message.Body.Length >= LongBody);

    private Func<MessageContext, IEnumerable<SplitItem>>? Division(SplitConfig settings, IMessageSplitter? splitter, IStepCompiler compiler)
    {
        if (settings.Entries == false)
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "entries", "expected true, or another way to find the items");
        if (settings.Entries == true)
            return EntriesOf;
        return splitter is null ? null : context => splitter.Split(context.Message.Body);
    }

    private static IEnumerable<SplitItem> EntriesOf(MessageContext context)
    {
        if (context.Entries is not { } entries)
            throw new EsbException(
                "ESB-SPLIT-ENTRIES",
                "Nothing was decoded whose entries could be items; expected a decode step before the split.",
                FaultKind.Internal
            );
        return entries.Select(entry => new SplitItem(entry.Body, entry.ContentType ?? "application/octet-stream")
        {
            Properties = [new("name", entry.Name)],
        });
    }

    private IMessageSplitter? CompileSplitter(SplitConfig settings, IStepCompiler compiler) =>
        settings switch
        {
            { Xpath: { } xpath } => splitters.ByXPath(settings, xpath, compiler.Errors),
            { Jsonpath: { } jsonpath } => splitters.ByJsonPath(settings, jsonpath, compiler.Errors),
            { Format: { } format } => splitters.ByFormat(settings, format, compiler.Errors),
            _ => null, // reported
        };
}
