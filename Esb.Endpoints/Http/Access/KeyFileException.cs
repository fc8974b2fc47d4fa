namespace Esb.Endpoints.Http.Access;

/// <summary>What is wrong with a file of keys or tokens, as the end of a sentence.</summary>
internal sealed class KeyFileException(string fault) : Exception(fault);
