namespace Esb.Core.Configuration.Settings;

/// <summary>A setting that is either one of a few words or an object of named values.</summary>
/// <param name="Word">The word; null if the object is given.</param>
/// <param name="Values">The values by name; empty if the word is given.</param>
/// <typeparam name="TWord">The enumeration of the words.</typeparam>
/// <typeparam name="TValue">The type of the values.</typeparam>
public sealed record WordOrMap<TWord, TValue>(TWord? Word, IReadOnlyDictionary<string, TValue> Values)
    where TWord : struct, Enum;
