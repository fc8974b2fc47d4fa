using System.Globalization;
using Esb.Core.Processes;

namespace Esb.Core.Expressions;

/// <summary>A compiled value. Immutable and thread-safe.</summary>
public interface IMessageValue
{
    /// <summary>Whether it reads the body, which must be buffered then.</summary>
    bool ReadsBody { get; }

    /// <summary>The value for a message; null where it does not exist.</summary>
    /// <returns>A <see cref="string"/>, <see cref="double"/>, <see cref="bool"/>, <see cref="Guid"/> or <see cref="DateTimeOffset"/>; a JSON object or array as its text.</returns>
    /// <exception cref="Errors.EsbException">The body cannot be read as the value needs it.</exception>
    object? Evaluate(MessageContext context);
}

/// <summary>A compiled condition. Immutable and thread-safe.</summary>
public interface IMessageCondition
{
    /// <summary>Whether it reads the body, which must be buffered then.</summary>
    bool ReadsBody { get; }

    /// <summary>Whether it holds for a message.</summary>
    /// <exception cref="Errors.EsbException">The body cannot be read as the condition needs it.</exception>
    bool Holds(MessageContext context);
}

/// <summary>Compiles what a configuration says of values and conditions; errors are collected, and the result is null then. Used by one thread, while the configuration is checked.</summary>
public interface IExpressionCompiler
{
    /// <summary>Compiles a value.</summary>
    IMessageValue? Compile(IValueSource value, Configuration.ConfigErrors errors);

    /// <summary>Compiles a condition.</summary>
    IMessageCondition? Compile(ConditionConfig condition, Configuration.ConfigErrors errors);

    /// <summary>Compiles a template: text with places such as <c>{header.x-order}</c>, <c>{message.id}</c>, <c>{property.status}</c>; <c>{{</c> is a plain brace.</summary>
    IMessageValue? CompileTemplate(string template, string path, Configuration.ConfigOrigin origin, Configuration.ConfigErrors errors);
}

/// <summary>Values as text.</summary>
public static class MessageValues
{
    /// <summary>A value as text in the invariant culture; numbers as XPath writes them: in their shortest form, and without an exponent where they have 28 digits at most.</summary>
    public static string? AsText(object? value) => value switch
    {
        null => null,
        string text => text,
        bool flag => flag ? "true" : "false",
        0.0 => "0", // of either sign
        double number when number == Math.Truncate(number) && Math.Abs(number) < 1e15 => number.ToString("F0", CultureInfo.InvariantCulture),
        double number => WithoutExponent(number),
        DateTimeOffset time => time.ToString("O", CultureInfo.InvariantCulture),
        _ => Convert.ToString(value, CultureInfo.InvariantCulture),
    };

    private static string WithoutExponent(double number)
    {
        var shortest = number.ToString("R", CultureInfo.InvariantCulture);
        if (!shortest.Contains('E') || !decimal.TryParse(shortest, NumberStyles.Float, CultureInfo.InvariantCulture, out var exact)) return shortest;
        var digits = exact.ToString(CultureInfo.InvariantCulture);
        return double.Parse(digits, CultureInfo.InvariantCulture) == number ? digits : shortest; // a decimal drops what is behind its 28th place
    }
}
