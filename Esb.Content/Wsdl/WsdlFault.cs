namespace Esb.Content.Wsdl;

/// <summary>A problem in a WSDL or in a file that it names.</summary>
internal sealed class WsdlFault(string file, int line, int column, string problem) : Exception(problem)
{
    /// <summary>The path of the file.</summary>
    public string File => file;

    public int Line => line;

    public int Column => column;
}
