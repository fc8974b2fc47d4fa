using System.Text;
using Esb.Core.Expressions;
using Esb.Core.Messages;
using Esb.Core.Processes;
using Jint;
using Jint.Native;
using Jint.Native.Function;
using Jint.Native.Object;
using Jint.Runtime;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Takes the result of a script apart.</summary>
internal sealed class ScriptResult(MapSettings settings)
{
    private static readonly UTF8Encoding Strict = new(false, throwOnInvalidBytes: true);

    /// <summary>The body that a script returned: an object or array as JSON, or a text.</summary>
    /// <exception cref="ScriptResultException">It is neither.</exception>
    public MappedBody BodyOf(JsValue result) =>
        result switch
        {
            JsString text => new MappedBody(TextOf(text.ToString()), settings.ContentType.OfText, settings.ContentType.Kind),
            Function => throw new ScriptResultException("is a function"),
            _ when result.IsPromise() => throw new ScriptResultException("is a promise; maps are not asynchronous"),
            ObjectInstance => new MappedBody(
                MessageBody.FromBytes(new ScriptJson(settings.OutputBytes).Write(result)),
                settings.ContentType.OfJson,
                MadeKind.Json
            ),
            _ => throw new ScriptResultException($"is {NameOf(result)}; expected an object, an array or a text"),
        };

    /// <summary>The parts of a message that a script returned: <c>body</c>, <c>headers</c>, <c>properties</c>.</summary>
    /// <exception cref="ScriptResultException">It has other members, or is not an object.</exception>
    public MessageChanges ChangesOf(JsValue result)
    {
        if (result.IsPromise())
            throw new ScriptResultException("is a promise; maps are not asynchronous");
        if (result is not ObjectInstance changes || changes.IsArray() || changes is Function)
            throw new ScriptResultException($"is {NameOf(result)}; expected an object with body, headers or properties");
        if (MembersOf(changes).FirstOrDefault(member => member.Name is not ("body" or "headers" or "properties")) is { Name: { } unknown })
            throw new ScriptResultException($"has the member '{unknown}'; expected body, headers or properties");
        var body = changes.Get("body");
        return new MessageChanges(
            body.IsUndefined() ? null : BodyOf(body),
            [
                .. PartOf(changes, "headers")
                    .Select(header => KeyValuePair.Create(HeaderNameOf(header.Name), MessageValues.AsText(ValueOf(header.Value)))),
            ],
            [.. PartOf(changes, "properties").Select(property => KeyValuePair.Create(property.Name, ValueOf(property.Value)))]
        );
    }

    private static IEnumerable<(string Name, JsValue Value)> PartOf(ObjectInstance changes, string name) =>
        changes.Get(name) switch
        {
            JsUndefined => [],
            JsObject part => MembersOf(part),
            _ => throw new ScriptResultException($"has {name} that are no object"),
        };

    private static IEnumerable<(string Name, JsValue Value)> MembersOf(ObjectInstance owner) =>
        owner
            .GetOwnProperties()
            .Where(property => property.Value.Enumerable && property.Key is JsString)
            .Select(property => (property.Key.ToString(), owner.Get(property.Key)));

    private static string HeaderNameOf(string name)
    {
        if (!HeaderRules.IsName(name))
            throw new ScriptResultException($"has a header whose name has other characters than letters, digits and !#$%&'*+-.^_`|~");
        return HeaderRules.IsReserved(name)
            ? throw new ScriptResultException($"sets the header '{name}', which is reserved for the bus and its broker")
            : name;
    }

    private object? ValueOf(JsValue value) =>
        value switch
        {
            JsString text => text.ToString(),
            JsBoolean flag => TypeConverter.ToBoolean(flag),
            JsNumber number => TypeConverter.ToNumber(number),
            ObjectInstance and not Function when !value.IsPromise() => Encoding.UTF8.GetString(
                new ScriptJson(settings.OutputBytes).Write(value).Span
            ),
            _ when value.IsNull() || value.IsUndefined() => null,
            _ => throw new ScriptResultException($"has a header or property that is {NameOf(value)}"),
        };

    private MessageBody TextOf(string text)
    {
        try
        {
            var bytes = Strict.GetBytes(text);
            if (bytes.Length > settings.OutputBytes)
                throw new ScriptLimitException($"it makes more than {settings.OutputBytes} bytes");
            return MessageBody.FromBytes(bytes);
        }
        catch (EncoderFallbackException ex)
        {
            throw new ScriptResultException("is a text that is not Unicode", ex);
        }
    }

    private static string NameOf(JsValue value) =>
        value switch
        {
            _ when value.IsUndefined() => "nothing",
            _ when value.IsNull() => "null",
            _ when value.IsPromise() => "a promise",
            Function => "a function",
            ObjectInstance => value.IsArray() ? "an array" : "an object",
            _ => $"a {value.Type.ToString().ToLowerInvariant()}",
        };
}
