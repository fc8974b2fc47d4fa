using Esb.Configuration;
using Esb.Content.Transforms;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;

namespace Esb.Workflows.Processes.Steps.Scattering;

/// <summary>Calls several endpoints, or sends several requests, at once, and gathers the answers (pattern: Scatter-Gather).</summary>
internal sealed class ScatterStep(MapModels maps, LimitsConfig limits) : StepFactory<ScatterConfig>
{
    public override string Kind => "scatter";

    protected override StepModel Compile(ScatterConfig settings, StepConfig step, IStepCompiler compiler)
    {
        Check(settings, compiler);
        string[] names = [.. settings.Endpoints, .. settings.Subjects.Select(subject => subject.Value)];
        StepListModel[] lists = [.. BranchesOf(settings, step).Select(branch => compiler.Compile([branch]))];
        var map = settings.Gather?.Map is { } named ? maps.Find(named) : null; // a missing map has been reported
        return new StepModel(step, $"scatter({string.Join(", ", names)})")
        {
            Traits = new StepTraits
            {
                Divides = true,
                RunsAtOnce = true,
                ReplacesBody = true,
                Transforms = map is not null,
                Makes = map?.Makes is { } made ? new MapOutput(map.Name, made) : null,
            },
            Lists = lists,
            Bind =
                settings.Gather is null || (settings.Gather.Map is not null && map is null) || !settings.IsSound("require", "gather")
                    ? null
                    : services =>
                    {
                        ScatterBranch[] branches =
                        [
                            .. lists.Select(
                                (list, index) => new ScatterBranch(names[index], list.Bind(services), limits.MaxBodySize.Bytes)
                            ),
                        ];
                        var run = new ScatterRun(branches, settings, services.GetRequiredService<TimeProvider>());
                        var live = map is null ? null : services.GetRequiredService<IMapCatalog>().Find(map.Name)!;
                        return async (context, cancellationToken) =>
                        {
                            await context.Message.Body.BufferAsync(limits.MaxBodySize.Bytes, cancellationToken); // branches read it at once
                            await run.RunAsync(context, step.Place, cancellationToken);
                            if (live is not null)
                                await TransformAsync(context, live, cancellationToken);
                        };
                    },
        };
    }

    private void Check(ScatterConfig settings, IStepCompiler compiler)
    {
        foreach (
            var (property, names) in new[]
            {
                ("endpoints", settings.Endpoints),
                ("subjects", settings.Subjects.Select(subject => subject.Value).ToList()),
            }
        )
        {
            if (names.Count != names.Distinct().Count())
                compiler.Errors.Add("ESB-CFG-VALUE", settings, property, "expected each name once");
        }

        var count = settings.Endpoints.Count + settings.Subjects.Count;
        if (settings.Require?.Count > count && settings.IsSound("endpoints", "subjects"))
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "require", $"expected at most {count}, the number of answers");
        if (settings.Gather?.As == GatherForm.First && settings.Require is { Count: > 1 })
            compiler.Errors.Add("ESB-CFG-VALUE", settings, "require", "expected any, or nothing, beside \"gather\": \"first\"");
        if (settings.Gather?.Map is { } map && maps.Find(map) is { Reads: MadeKind.Xml })
            compiler.Errors.Add("ESB-CFG-REF", settings.Gather, "map", $"'{map}' reads XML, and the array is JSON");
    }

    private static IEnumerable<StepConfig> BranchesOf(ScatterConfig settings, StepConfig step) =>
        settings
            .Endpoints.Select((endpoint, index) => InnerSteps.Call(endpoint, step, $"{step.Path}.endpoints[{index}]"))
            .Concat(
                settings.Subjects.Select(
                    (subject, index) => InnerSteps.Request(subject, settings.Timeout, step, $"{step.Path}.subjects[{index}]")
                )
            );

    private static async ValueTask TransformAsync(MessageContext context, IMessageMap map, CancellationToken cancellationToken)
    {
        var made = await map.TransformAsync(new MapCall(context), [], cancellationToken);
        context.Message = context.Message with { Body = made.Body, ContentType = made.ContentType };
        context.Made = new MadeBody(made.Body, map.Name, made.Kind);
    }
}
