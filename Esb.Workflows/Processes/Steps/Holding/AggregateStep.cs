using System.Globalization;
using Esb.Configuration;
using Esb.Content.Formats;
using Esb.Content.Formats.Conversion;
using Esb.Content.Transforms;
using Esb.Content.Xml;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Processes;
using Esb.Core.Storage;
using Esb.Workflows.Processes.Holding;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Holding;

/// <summary>Keeps messages in the store until their group is complete, then continues with one message (pattern: Aggregator).</summary>
internal sealed class AggregateStep(ContentConverter converter, XmlInput xml, MapModels maps) : StepFactory<AggregateConfig>
{
    private static readonly TimeSpan LongestGroup = TimeSpan.FromHours(24);

    public override string Kind => "aggregate";

    protected override StepModel Compile(AggregateConfig settings, StepConfig step, IStepCompiler compiler)
    {
        HoldingSteps.RefuseInWorkflow(step, "collect", compiler);
        var until = settings.Until;
        if (until is { Count: null, Idle: null, Within: null, If: null } && until.IsWhole)
            compiler.Errors.Add(
                "ESB-CFG-REQUIRED",
                settings,
                "until",
                "expected at least one of count, idle, within and if: nothing else completes the group"
            );
        var isUsable = CheckForm(settings.As, compiler);
        var key = settings.Key is null ? null : compiler.Expressions.Compile(settings.Key, compiler.Errors);
        var count = until.Count is null ? null : compiler.Expressions.Compile(until.Count, compiler.Errors);
        var last = until.If is null ? null : compiler.Expressions.Compile(until.If, compiler.Errors);
        isUsable &=
            (key is not null || settings.Key is null)
            && (count is not null || until.Count is null)
            && (last is not null || until.If is null);
        return new StepModel(step, settings.Key is null ? "aggregate" : "aggregate(by key)")
        {
            Traits = new StepTraits
            {
                Holds = true,
                LeavesFacts = true,
                ReplacesBody = true,
                Values = [.. new[] { settings.Key, until.Count }.OfType<ValueConfig>(), .. until.If?.Values ?? []],
            },
            Flow = new AggregateFlow(settings, new GroupBody(settings.As, converter, xml)),
            Bind = isUsable ? services => Run(services.GetRequiredService<Holder>()) : null,
        };

        MessageStep Run(Holder holder) =>
            async (context, cancellationToken) =>
            {
                var line = HoldingSteps.KeyOf(key, context, step);
                var rule = new GroupRule(
                    count is null ? null : CountOf(count, context, step),
                    last?.Holds(context) == true,
                    settings.MaxItems,
                    settings.MaxSize.Bytes,
                    until.Idle,
                    until.Within ?? (until.Idle is null ? LongestGroup : null)
                );
                var orderKey = context.Message.Key ?? HoldingSteps.OrderKeyOf(line, step);
                var held = await holder.PrepareAsync(context, step.Place, line, orderKey, cancellationToken);
                var change = await holder.JoinAsync(new GroupedMessage(held, rule));
                await holder.EndAsync(context, step.Place, "aggregated", change.IsKnown, change.IsKnown ? null : change.Group);
            };
    }

    private bool CheckForm(GroupFormConfig form, IStepCompiler compiler)
    {
        if (form.Map is { } map && maps.Find(map) is { Reads: Core.Processes.MadeKind.Xml })
        {
            compiler.Errors.Add("ESB-CFG-REF", form, "map", $"'{map}' reads XML, and the array is JSON");
            return false;
        }

        if (
            form.Form is not { } name
            || name is GroupBody.Array or ContentForms.Xml
            || (name != ContentForms.Json && converter.Knows(name))
        )
            return form.IsWhole && (form.Form is null or GroupBody.Array or ContentForms.Xml || converter.Find(form.Form) is not null);
        string[] forms = [GroupBody.Array, .. converter.Forms.Where(one => one != ContentForms.Json)];
        compiler.Errors.Add(
            "ESB-CFG-REF",
            form,
            "form",
            $"there is no such format; expected one of {string.Join(", ", forms)}{NearestName.Hint(name, forms)}"
        );
        return false;
    }

    private static long? CountOf(IMessageValue count, MessageContext context, StepConfig step)
    {
        var text = MessageValues.AsText(count.Evaluate(context));
        if (string.IsNullOrWhiteSpace(text))
            return null;
        return long.TryParse(text.Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number > 0
            ? number
            : throw new EsbException(
                "ESB-HOLD-COUNT",
                $"The step {step.Place} expects a number of messages from 1, and found another text.",
                FaultKind.Invalid
            );
    }
}
