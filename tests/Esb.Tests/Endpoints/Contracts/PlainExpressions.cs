using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Esb.Core.Configuration;
using Esb.Core.Expressions;
using Esb.Core.Processes;

namespace Esb.Tests.Endpoints.Contracts;

/// <summary>Values as far as the tests of endpoints need them: headers, the envelope, constants, members of a JSON object, templates of
/// these.</summary>
internal sealed partial class PlainExpressions : IExpressionCompiler
{
    public IMessageValue Compile(IValueSource value, ConfigErrors errors) =>
        new PlainValue(context =>
            value switch
            {
                { Header: { } header } => context.Message.Headers[header],
                { Message: { } part } => Part(context, JsonName(part.ToString())),
                { Jsonpath: { } path } => Member(context, path["$.".Length..]),
                _ => value.Value?.Text,
            }
        );

    public IMessageCondition? Compile(ConditionConfig condition, ConfigErrors errors) => throw new NotSupportedException();

    public IMessageValue CompileTemplate(string template, string path, ConfigOrigin origin, ConfigErrors errors) =>
        new PlainValue(context =>
            Place()
                .Replace(
                    template,
                    place => MessageValues.AsText(Find(context, place.Groups["kind"].Value, place.Groups["name"].Value)) ?? ""
                )
        );

    private static object? Find(MessageContext context, string kind, string name) =>
        kind == "header" ? context.Message.Headers[name] : Part(context, name);

    private static object? Part(MessageContext context, string name) =>
        name switch
        {
            "id" => context.Message.Id,
            "key" => context.Message.Key,
            "createdAt" => context.Message.CreatedAt,
            _ => context.Message.Body.ReadText(),
        };

    private static object? Member(MessageContext context, string name) =>
        JsonNode.Parse(context.Message.Body.ReadText())?[name] switch
        {
            JsonValue value when value.TryGetValue<bool>(out var flag) => flag,
            JsonValue value when value.TryGetValue<double>(out var number) => number,
            JsonValue value when value.TryGetValue<string>(out var text) => text,
            var other => other?.ToJsonString(),
        };

    private static string JsonName(string name) => char.ToLowerInvariant(name[0]) + name[1..];

    [GeneratedRegex(@"\{(?<kind>header|message)\.(?<name>[^}]+)\}")]
    private static partial Regex Place();

    private sealed class PlainValue(Func<MessageContext, object?> evaluate) : IMessageValue
    {
        public bool ReadsBody => true;

        public object? Evaluate(MessageContext context) => evaluate(context);
    }
}
