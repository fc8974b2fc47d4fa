using System.Globalization;
using Esb.Core.Expressions;

namespace Esb.Content.Expressions;

/// <summary>Compares a value of a message with a constant. A missing value equals nothing and has no order.</summary>
internal static class ValueOrder
{
    /// <summary>Equality: numeric if one is a number and the other can be read as one, otherwise of the exact text (so the text 007 is not
    /// the text 7).</summary>
    public static bool AreEqual(object? value, object constant)
    {
        if (value is null)
            return false;
        if ((value is double || constant is double) && NumberText.Compare(value, constant) is { } difference)
            return difference == 0;
        return MessageValues.AsText(value) == MessageValues.AsText(constant);
    }

    /// <summary>Order: numeric if both can be read as numbers, chronological for points in time, ordinal for other texts; null if the
    /// values have no order.</summary>
    public static int? Compare(object? value, object constant)
    {
        if (value is null)
            return null;
        if (NumberText.Compare(value, constant) is { } difference)
            return difference;
        if (value is DateTimeOffset time)
            return DateTimeOffset.TryParse(
                MessageValues.AsText(constant),
                CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal,
                out var other
            )
                ? time.CompareTo(other)
                : null;
        return value is string text && constant is string bound ? string.CompareOrdinal(text, bound) : null;
    }
}
