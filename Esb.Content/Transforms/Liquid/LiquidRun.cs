using System.Text;
using Fluid.Values;

namespace Esb.Content.Transforms.Liquid;

/// <summary>The output of one run of a template, with its limits. One run; not thread-safe.</summary>
internal sealed class LiquidRun(TimeProvider time, MapLimitsConfig limits, long maxBytes) : StringWriter(new StringBuilder(1_024))
{
    /// <summary>The name under which a context holds the run.</summary>
    public const string Ambient = "esb.run";

    private readonly long _start = time.GetTimestamp();
    private readonly long _longest = Math.Min(maxBytes, limits.Memory.Bytes / sizeof(char));

    public override Encoding Encoding => Encoding.UTF8;

    public override void Write(char value)
    {
        Check(1);
        base.Write(value);
    }

    public override void Write(char[] buffer, int index, int count)
    {
        Check(count);
        base.Write(buffer, index, count);
    }

    public override void Write(ReadOnlySpan<char> buffer)
    {
        Check(buffer.Length);
        base.Write(buffer);
    }

    public override void Write(string? value)
    {
        Check(value?.Length ?? 0);
        base.Write(value);
    }

    /// <summary>Checks a value that the template keeps in a variable.</summary>
    /// <exception cref="LiquidLimitException">It is too large, or the run takes too long.</exception>
    public FluidValue Check(FluidValue value)
    {
        CheckTime();
        if (value is StringValue text && text.ToStringValue().Length > _longest)
            throw new LiquidLimitException($"a text is longer than {_longest} characters");
        if (value is ArrayValue array && array.Values.Count > limits.Statements)
            throw new LiquidLimitException($"a list has more than {limits.Statements} items");
        return value;
    }

    /// <exception cref="LiquidLimitException">The run takes too long.</exception>
    public void CheckTime()
    {
        if (time.GetElapsedTime(_start) > limits.Time)
            throw new LiquidLimitException($"it took longer than {limits.Time.TotalSeconds:0.###} s");
    }

    private void Check(int more)
    {
        CheckTime();
        if (GetStringBuilder().Length + (long)more > _longest)
            throw new LiquidLimitException($"it makes more than {_longest} characters");
    }
}
