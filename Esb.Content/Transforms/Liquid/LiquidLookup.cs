using Esb.Core.Errors;
using Fluid;
using Fluid.Values;

namespace Esb.Content.Transforms.Liquid;

/// <summary>The filter <c>lookup</c>: <c>{{ input.country | lookup: "countries", "iso" }}</c>; without a column the whole entry.</summary>
internal static class LiquidLookup
{
    /// <summary>The name under which a context holds the look-ups.</summary>
    public const string Ambient = "esb.lookup";

    public static ValueTask<FluidValue> Find(FluidValue key, FilterArguments arguments, TemplateContext context)
    {
        if (!context.AmbientValues.TryGetValue(Ambient, out var known) || known is not Func<string, object?, object?> find)
            throw new EsbException(
                "ESB-LQD-LOOKUP",
                "The map uses the filter lookup, but this configuration has no lookups.",
                FaultKind.Internal
            );
        if (key.IsNil())
            return NilValue.Instance;
        var entry = find(arguments.At(0).ToStringValue(), key.ToStringValue()) as IReadOnlyDictionary<string, string>;
        if (entry is null)
            return NilValue.Instance;
        if (arguments.At(1).IsNil())
            return FluidValue.Create(entry.ToDictionary(column => column.Key, column => (object)column.Value), context.Options);
        return entry.TryGetValue(arguments.At(1).ToStringValue(), out var text) ? new StringValue(text) : NilValue.Instance;
    }
}
