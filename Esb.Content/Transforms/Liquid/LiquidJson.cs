using System.Buffers;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;
using Esb.Content.Json;
using Fluid;
using Fluid.Values;

namespace Esb.Content.Transforms.Liquid;

/// <summary>The filter <c>json</c>: a value as JSON, which a JSON template takes as it is.</summary>
internal static class LiquidJson
{
    private static readonly JsonWriterOptions Options = new()
    {
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        SkipValidation = true,
    };

    public static string Of(FluidValue value, TemplateContext context)
    {
        var buffer = new ArrayBufferWriter<byte>();
        using (var json = new Utf8JsonWriter(buffer, Options))
            Write(json, value, context, 0);
        return Encoding.UTF8.GetString(buffer.WrittenSpan);
    }

    private static void Write(Utf8JsonWriter json, FluidValue value, TemplateContext context, int depth)
    {
        if (depth > JsonInput.MaxDepth)
            throw new LiquidLimitException($"a value is nested deeper than {JsonInput.MaxDepth} levels");
        switch (value)
        {
            case NumberValue number:
                json.WriteNumberValue(number.ToNumberValue());
                break;
            case BooleanValue flag:
                json.WriteBooleanValue(flag.ToBooleanValue());
                break;
            case ArrayValue array:
                json.WriteStartArray();
                foreach (var item in array.Values)
                    Write(json, item, context, depth + 1);
                json.WriteEndArray();
                break;
            case DictionaryValue members:
                json.WriteStartObject();
                foreach (var member in members.Enumerate(context).OfType<ArrayValue>())
                {
                    json.WritePropertyName(member.Values[0].ToStringValue());
                    Write(json, member.Values[1], context, depth + 1);
                }

                json.WriteEndObject();
                break;
            case NilValue:
                json.WriteNullValue();
                break;
            default:
                json.WriteStringValue(value.ToStringValue());
                break;
        }
    }
}
