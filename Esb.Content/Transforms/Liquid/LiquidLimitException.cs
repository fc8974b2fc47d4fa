namespace Esb.Content.Transforms.Liquid;

/// <summary>A template exceeded a limit.</summary>
internal sealed class LiquidLimitException(string what) : Exception(what);
