using System.Text.Json;
using Esb.Content.Transforms.Documents;
using Esb.Core.Expressions;
using Jint;
using Jint.Native;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Converts documents and values of messages to values of a script. They are copies: a script cannot change the
/// originals.</summary>
internal static class ScriptValues
{
    public static JsValue Of(Engine engine, MapDocument document) =>
        document.Text is { } text ? new JsString(text) : Of(engine, document.Json);

    public static JsValue Of(object? value) =>
        value switch
        {
            null => JsValue.Undefined,
            string text => new JsString(text),
            bool flag => flag ? JsBoolean.True : JsBoolean.False,
            double number => JsNumber.Create(number),
            int number => JsNumber.Create(number),
            long number => JsNumber.Create(number),
            _ => new JsString(MessageValues.AsText(value)!),
        };

    /// <summary>An entry of a look-up: an object of texts, or undefined.</summary>
    public static JsValue OfEntry(Engine engine, object? entry)
    {
        if (entry is not IReadOnlyDictionary<string, string> columns)
            return Of(entry);
        var made = new JsObject(engine);
        foreach (var (column, text) in columns)
            made.FastSetDataProperty(column, new JsString(text));
        return made;
    }

    private static JsValue Of(Engine engine, JsonElement json) =>
        json.ValueKind switch
        {
            JsonValueKind.Object => ObjectOf(engine, json),
            JsonValueKind.Array => ArrayOf(engine, json),
            JsonValueKind.String => new JsString(json.GetString()!),
            JsonValueKind.Number => JsNumber.Create(json.GetDouble()),
            JsonValueKind.True => JsBoolean.True,
            JsonValueKind.False => JsBoolean.False,
            _ => JsValue.Null,
        };

    private static JsObject ObjectOf(Engine engine, JsonElement json)
    {
        var made = new JsObject(engine);
        foreach (var member in json.EnumerateObject())
            made.FastSetDataProperty(member.Name, Of(engine, member.Value));
        return made;
    }

    private static JsArray ArrayOf(Engine engine, JsonElement json)
    {
        var items = new JsValue[json.GetArrayLength()];
        var count = 0;
        foreach (var item in json.EnumerateArray())
            items[count++] = Of(engine, item);
        return new JsArray(engine, items);
    }
}
