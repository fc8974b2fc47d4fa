using System.Globalization;
using Esb.Core.Processes;

namespace Esb.Core.Expressions;

/// <summary>A compiled value. Immutable and thread-safe.</summary>
public interface IMessageValue
{
    /// <summary>True if it reads the body, which must then be buffered.</summary>
    bool ReadsBody { get; }

    /// <summary>Evaluates the value for a message; null if it does not exist.</summary>
    /// <returns>A <see cref="string"/>, <see cref="double"/>, <see cref="bool"/>, <see cref="Guid"/> or <see cref="DateTimeOffset"/>; a
    /// JSON object or array as its text.</returns>
    /// <exception cref="Errors.EsbException">The body cannot be read in the form that the value needs.</exception>
    object? Evaluate(MessageContext context);
}

/// <summary>A compiled condition. Immutable and thread-safe.</summary>
public interface IMessageCondition
{
    /// <summary>True if it reads the body, which must then be buffered.</summary>
    bool ReadsBody { get; }

    /// <summary>True if it holds for a message.</summary>
    /// <exception cref="Errors.EsbException">The body cannot be read in the form that the condition needs.</exception>
    bool Holds(MessageContext context);
}

/// <summary>Compiles configured values and conditions; errors are collected, and the result is then null. Used by one thread, while the
/// configuration is checked.</summary>
public interface IExpressionCompiler
{
    /// <summary>Compiles a value.</summary>
    IMessageValue? Compile(IValueSource value, Configuration.ConfigErrors errors);

    /// <summary>Compiles a condition.</summary>
    IMessageCondition? Compile(ConditionConfig condition, Configuration.ConfigErrors errors);

    /// <summary>Compiles a template: text with places such as <c>{header.x-order}</c>, <c>{message.id}</c>, <c>{property.status}</c>;
    /// <c>{{</c> is a plain brace.</summary>
    IMessageValue? CompileTemplate(string template, string path, Configuration.ConfigOrigin origin, Configuration.ConfigErrors errors);
}

/// <summary>Values as text.</summary>
public static class MessageValues
{
    /// <summary>Formats a value in the invariant culture; numbers as XPath writes them: in their shortest form, and without an exponent up
    /// to 28 digits.</summary>
    public static string? AsText(object? value) =>
        value switch
        {
            null => null,
            string text => text,
            bool flag => flag ? "true" : "false",
            0.0 => "0", // of either sign
            double number when number == Math.Truncate(number) && Math.Abs(number) < 1e15 => number.ToString(
                "F0",
                CultureInfo.InvariantCulture
            ),
            double number => WithoutExponent(number),
            DateTimeOffset time => time.ToString("O", CultureInfo.InvariantCulture),
            _ => Convert.ToString(value, CultureInfo.InvariantCulture),
        };

    private static string WithoutExponent(double number)
    {
        var shortest = number.ToString("R", CultureInfo.InvariantCulture);
        if (!shortest.Contains('E') || !decimal.TryParse(shortest, NumberStyles.Float, CultureInfo.InvariantCulture, out var exact))
            return shortest;
        var digits = exact.ToString(CultureInfo.InvariantCulture);
        return double.Parse(digits, CultureInfo.InvariantCulture) == number ? digits : shortest; // a decimal drops digits after the 28th
    }
}
