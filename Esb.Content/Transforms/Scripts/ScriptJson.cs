using System.Buffers;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Content.Json;
using Jint;
using Jint.Native;
using Jint.Native.Function;
using Jint.Native.Object;
using Jint.Runtime;

namespace Esb.Content.Transforms.Scripts;

/// <summary>Writes an object or array of a script as JSON, as <c>JSON.stringify</c> does, but at most 64 levels deep.</summary>
/// <param name="maxBytes">The largest document, in bytes.</param>
internal sealed class ScriptJson(long maxBytes)
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    private readonly ArrayBufferWriter<byte> _bytes = new(1_024);

    /// <summary>Writes a value.</summary>
    /// <exception cref="ScriptResultException">It is no JSON.</exception>
    /// <exception cref="ScriptLimitException">It is larger than allowed.</exception>
    public ReadOnlyMemory<byte> Write(JsValue value)
    {
        using (var json = new Utf8JsonWriter(_bytes, Options))
            Write(json, value, "", 0);
        return _bytes.WrittenMemory;
    }

    private void Write(Utf8JsonWriter json, JsValue value, string key, int depth)
    {
        if (json.BytesCommitted + json.BytesPending > maxBytes)
            throw new ScriptLimitException($"it makes more than {maxBytes} bytes");
        switch (ToJson(value, key))
        {
            case JsString text:
                WriteText(json, text.ToString());
                break;
            case JsNumber number:
                WriteNumber(json, TypeConverter.ToNumber(number));
                break;
            case JsBoolean flag:
                json.WriteBooleanValue(TypeConverter.ToBoolean(flag));
                break;
            case ObjectInstance inner and not Function when depth == JsonInput.MaxDepth:
                throw new ScriptResultException($"is nested deeper than {JsonInput.MaxDepth} levels");
            case ObjectInstance inner and not Function when inner.IsArray():
                WriteArray(json, inner, depth);
                break;
            case ObjectInstance inner and not Function:
                WriteObject(json, inner, depth);
                break;
            default:
                json.WriteNullValue();
                break;
        }
    }

    private void WriteArray(Utf8JsonWriter json, ObjectInstance array, int depth)
    {
        json.WriteStartArray();
        var count = TypeConverter.ToNumber(array.Get("length"));
        for (var i = 0; i < count; i++)
            Write(json, array.Get(JsNumber.Create(i)), "", depth + 1);
        json.WriteEndArray();
    }

    private void WriteObject(Utf8JsonWriter json, ObjectInstance made, int depth)
    {
        json.WriteStartObject();
        foreach (var (name, property) in made.GetOwnProperties())
        {
            if (!property.Enumerable || name is not JsString)
                continue;
            var value = made.Get(name);
            if (value.IsUndefined() || value is Function or JsSymbol)
                continue;
            json.WritePropertyName(name.ToString());
            Write(json, value, name.ToString(), depth + 1);
        }

        json.WriteEndObject();
    }

    // As of dates; and of texts, numbers and booleans that are objects.
    private static JsValue ToJson(JsValue value, string key)
    {
        if (value is not ObjectInstance made)
            return value;
        if (made.Get("toJSON") is Function convert)
            return convert.Call(made, [new JsString(key)]);
        return made is Jint.Native.IJsPrimitive ? TypeConverter.ToPrimitive(made) : made;
    }

    private static void WriteText(Utf8JsonWriter json, string text)
    {
        try
        {
            json.WriteStringValue(text);
        }
        catch (ArgumentException ex)
        {
            throw new ScriptResultException("has a text that is not Unicode", ex);
        }
    }

    private static void WriteNumber(Utf8JsonWriter json, double number)
    {
        if (!double.IsFinite(number))
            json.WriteNullValue();
        else if (number == Math.Truncate(number) && Math.Abs(number) < 9e15)
            json.WriteNumberValue((long)number);
        else
            json.WriteNumberValue(number);
    }
}
