using Esb.Content.Transforms.Documents;
using Esb.Core.Audit;
using Esb.Core.Errors;
using Esb.Core.Messages;
using Jint;
using Jint.Native;
using Jint.Runtime;
using Jint.Runtime.Interop;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Builds the second argument of a script, <c>context</c>, for one message.</summary>
internal sealed class ScriptContext(Engine engine, MapCall call, DocumentInput documents)
{
    private const int MostLines = 100;
    private const int LongestLine = 1_000;

    private int _lines;

    /// <summary>The object; <c>headers</c> have names in lower case.</summary>
    /// <exception cref="EsbException">A further document cannot be read.</exception>
    public JsObject Build(ReadOnlySpan<MapArgument> arguments)
    {
        var (parameters, inputs) = (new JsObject(engine), new JsObject(engine));
        foreach (var argument in arguments)
        {
            if (argument.Value is MessageBody body)
                Set(inputs, argument.Name, ScriptValues.Of(engine, documents.Read(body)));
            else
                Set(parameters, argument.Name, ScriptValues.Of(argument.Value));
        }

        var context = new JsObject(engine);
        Set(context, "message", Envelope(call.Context.Message));
        Set(context, "headers", Headers(call.Context.Message.Headers));
        Set(context, "properties", Properties());
        Set(context, "parameters", parameters);
        Set(context, "inputs", inputs);
        SetFunction(context, "lookup", Lookup);
        SetFunction(context, "log", Log);
        SetFunction(context, "fail", Fail);
        return context;
    }

    private JsObject Envelope(EsbMessage message)
    {
        var envelope = new JsObject(engine);
        Set(envelope, "id", ScriptValues.Of(message.Id));
        Set(envelope, "subject", ScriptValues.Of(message.Subject));
        Set(envelope, "key", ScriptValues.Of(message.Key));
        Set(envelope, "contentType", ScriptValues.Of(message.ContentType));
        Set(envelope, "createdAt", ScriptValues.Of(message.CreatedAt));
        Set(envelope, "party", ScriptValues.Of(message.Party));
        Set(envelope, "conversationId", ScriptValues.Of(message.ConversationId));
        Set(envelope, "correlationId", ScriptValues.Of(message.CorrelationId));
        Set(envelope, "endpoint", ScriptValues.Of(call.Context.Endpoint));
        return envelope;
    }

    private JsObject Headers(MessageHeaders headers)
    {
        var made = new JsObject(engine);
        foreach (var (name, value) in headers)
            Set(made, name.ToLowerInvariant(), ScriptValues.Of(value));
        return made;
    }

    private JsObject Properties()
    {
        var made = new JsObject(engine);
        foreach (var (name, value) in call.Context.Properties)
            Set(made, name, ScriptValues.Of(value));
        return made;
    }

    private JsValue Lookup(JsValue target, JsValue[] arguments)
    {
        if (call.Lookup is not { } find)
            throw new EsbException("ESB-JS-LOOKUP", "The map calls lookup(), but this configuration has no lookups.", FaultKind.Internal);
        if (arguments.At(0) is not JsString name)
            throw TypeError("lookup(name, key): expected the name of a look-up");
        return ScriptValues.OfEntry(
            engine,
            find(
                name.ToString(),
                arguments.At(1) switch
                {
                    JsString text => text.ToString(),
                    JsNumber number => TypeConverter.ToNumber(number),
                    JsBoolean flag => TypeConverter.ToBoolean(flag),
                    _ => throw TypeError("lookup(name, key): expected a text, number or boolean as key"),
                }
            )
        );
    }

    private JsValue Log(JsValue target, JsValue[] arguments)
    {
        if (call.Log is { } log && ++_lines <= MostLines)
            log(
                _lines == MostLines
                    ? "further lines of this message are left out"
                    : MaskedFlow.Excerpt(TypeConverter.ToString(arguments.At(0)), LongestLine)
            );
        return JsValue.Undefined;
    }

    // No exception of JavaScript: the script cannot catch it.
    private JsValue Fail(JsValue target, JsValue[] arguments)
    {
        if (arguments.At(0) is not JsString reason)
            throw TypeError("fail(reason, { status, code }): expected a text as reason");
        var options = arguments.At(1) as JsObject;
        var status = options?.Get("status") is { } given && !given.IsUndefined() ? TypeConverter.ToNumber(given) : 422;
        if (status is < 400 or > 599 || status != Math.Truncate(status))
            throw TypeError("fail(reason, { status, code }): expected a status of 400..599");
        var code = options?.Get("code") is JsString named ? named.ToString() : "ESB-PROC-REFUSED";
        if (!HeaderRules.IsName(code))
            throw TypeError("fail(reason, { status, code }): expected a code such as OUT-OF-STOCK");
        throw new EsbException(code, reason.ToString(), status < 500 ? FaultKind.Invalid : FaultKind.Internal) { Status = (int)status };
    }

    private JavaScriptException TypeError(string message) => new(engine.Intrinsics.TypeError, message);

    private void SetFunction(JsObject owner, string name, Func<JsValue, JsValue[], JsValue> function) =>
        Set(owner, name, new ClrFunction(engine, name, (target, arguments) => function(target, arguments)));

    private static void Set(JsObject owner, string name, JsValue value) => owner.FastSetDataProperty(name, value);
}
