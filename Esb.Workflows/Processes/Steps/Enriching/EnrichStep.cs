using System.Text;
using Esb.Configuration;
using Esb.Content.Json;
using Esb.Content.Transforms;
using Esb.Core.Configuration;
using Esb.Core.Errors;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Esb.Workflows.Processes.Steps.Enriching;

/// <summary>Adds the answer of a call or a request to the message (pattern: Content Enricher). Its body and headers stay.</summary>
internal sealed partial class EnrichStep(MapModels maps, LimitsConfig limits) : StepFactory<EnrichConfig>
{
    private const string Input = "answer";

    private delegate ValueTask PutAnswer(MessageContext context, EnrichAnswer answer, CancellationToken cancellationToken);

    public override string Kind => "enrich";

    protected override StepModel Compile(EnrichConfig settings, StepConfig step, IStepCompiler compiler)
    {
        var inner = compiler.Compile(InnerOf(settings, step));
        var place = Placement(settings, compiler);
        var key = settings.Cache is { } cache ? compiler.Expressions.Compile(cache.Key, compiler.Errors) : null;
        var isSound = place is not null && (settings.Cache is null || key is not null);
        return new StepModel(step, $"enrich({inner.Description})")
        {
            Traits = new StepTraits
            {
                Divides = true,
                ReplacesBody = settings.Into is { Property: null },
                Transforms = settings.Into is { Property: null },
                Values = settings.Cache is { } kept ? [kept.Key] : [],
                Reads = settings.Into is { Jsonpath: not null } ? new BodyReading(settings.Into, "jsonpath", MadeKind.Json) : null,
                Makes = settings.Into?.Map is { } map && maps.Find(map)?.Makes is { } made ? new MapOutput(map, made) : null,
            },
            Lists = [inner],
            Bind = !isSound ? null : services => Run(settings, step.Place, inner.Bind(services), place!(services), key, services),
        };
    }

    private MessageStep Run(
        EnrichConfig settings,
        string place,
        MessageStep ask,
        PutAnswer put,
        IMessageValue? key,
        IServiceProvider services
    )
    {
        var logger = services.GetRequiredService<ILogger<EnrichStep>>();
        var cache = settings.Cache is { } kept
            ? new AnswerCache(kept.For, kept.MaxEntries, services.GetRequiredService<TimeProvider>())
            : null;
        var otherwise = settings.Otherwise is { } written
            ? new EnrichAnswer(MessageBody.FromText(written.ToJson()?.ToJsonString(JsonStyle.Readable) ?? "null"), "application/json")
            : null;
        return async (context, cancellationToken) =>
        {
            var name = key is null ? null : MessageValues.AsText(key.Evaluate(context));
            var answer = name is null ? null : cache!.Find(name);
            if (answer is null)
            {
                try
                {
                    answer = await AskAsync(context, place, ask, cancellationToken);
                    if (name is not null)
                        cache!.Keep(name, answer);
                }
                catch (EsbException ex) when (otherwise is not null)
                {
                    LogOtherwise(logger, context.Message.Id, place, ex.Code, ex.Message);
                    answer = otherwise;
                }
            }

            await put(context, answer, cancellationToken);
        };
    }

    // The message of the call has an id of its own: the process may call the same endpoint elsewhere.
    private async ValueTask<EnrichAnswer> AskAsync(
        MessageContext context,
        string place,
        MessageStep ask,
        CancellationToken cancellationToken
    )
    {
        var part = context.ForPart(context.Message with { Id = context.PartId(context.NextDivision(place), 0) });
        try
        {
            await ask(part, cancellationToken);
            var answer = part.Message;
            await answer.Body.BufferAsync(limits.MaxBodySize.Bytes, cancellationToken);
            return new EnrichAnswer(answer.Body, answer.ContentType);
        }
        finally
        {
            context.Join(part);
        }
    }

    private static StepConfig[] InnerOf(EnrichConfig settings, StepConfig step) =>
        settings switch
        {
            { Call: { } call } => [InnerSteps.Of("call", call, step, $"{step.Path}.call", "call")],
            { Request: { } request } => [InnerSteps.Of("request", request, step, $"{step.Path}.request", "request")],
            _ => [], // reported
        };

    // Null after an error.
    private Func<IServiceProvider, PutAnswer>? Placement(EnrichConfig settings, IStepCompiler compiler)
    {
        switch (settings.Into)
        {
            case { Property: { Length: > 0 } property }:
                return _ => AtOnce((context, answer) => context.SetProperty(property, answer.Body.ReadText()));
            case { Property: "" } target:
                compiler.Errors.Add("ESB-CFG-VALUE", target, "property", "expected the name of a property");
                return null;
            case { Jsonpath: { } path } target:
                if (JsonMemberPath.Parse(path) is { } member)
                    return _ => AtOnce((context, answer) => PutMember(context, answer, member));
                compiler.Errors.Add(
                    "ESB-CFG-VALUE",
                    target,
                    "jsonpath",
                    "expected a JSONPath of names, such as \"$.customer\" or \"$.order.customer\""
                );
                return null;
            case { Map: { } map } target when maps.Find(map) is { } known: // a missing map has been reported
                if (IsUsable(known))
                    return services => Through(services.GetRequiredService<IMapCatalog>().Find(map)!, map);
                compiler.Errors.Add("ESB-CFG-REF", target, "map", $"the map {map} has no parameter '{Input}', or needs others");
                return null;
            default:
                return null; // reported
        }
    }

    private static PutAnswer AtOnce(Action<MessageContext, EnrichAnswer> put) =>
        (context, answer, _) =>
        {
            put(context, answer);
            return ValueTask.CompletedTask;
        };

    private static bool IsUsable(IMessageMap map) =>
        map.TakesAnyArgument
        || (
            map.Parameters.Any(parameter => parameter.Name == Input)
            && map.Parameters.All(parameter => parameter.Name == Input || !parameter.IsRequired)
        );

    private static void PutMember(MessageContext context, EnrichAnswer answer, JsonMemberPath member) =>
        context.Message = context.Message with { Body = member.Set(context.Message.Body, AnswerJson.Of(answer.Body, answer.ContentType)) };

    private static PutAnswer Through(IMessageMap map, string name) =>
        async (context, answer, cancellationToken) =>
        {
            var made = await map.TransformAsync(new MapCall(context), [new MapArgument(Input, answer.Body)], cancellationToken);
            context.Message = context.Message with { Body = made.Body, ContentType = made.ContentType };
            context.Made = new MadeBody(made.Body, name, made.Kind);
        };

    [LoggerMessage(
        EventId = 3061,
        Level = LogLevel.Warning,
        Message = "Message {MessageId}: step {Step} got no answer and continues with otherwise: {Code} {Reason}"
    )]
    private static partial void LogOtherwise(ILogger logger, Guid messageId, string step, string code, string reason);
}
