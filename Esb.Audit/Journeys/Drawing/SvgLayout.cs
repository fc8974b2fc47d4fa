namespace Esb.Audit.Journeys.Drawing;

/// <summary>Where things stand in a picture, in pixels. Widths of text are estimated: no font is asked.</summary>
internal sealed class SvgLayout
{
    public const int HeadTop = 34;
    public const int HeadBottom = HeadTop + 42;
    public const int HeadWidth = 136;
    public const int HeadCharacters = 22;

    /// <summary>The maximum length of an arrow's text, in characters; pointing at it shows all of it.</summary>
    public const int ArrowCharacters = 48;

    private const int TimesWidth = 82;
    private const int RowHeight = 30;
    private const int RemarkHeight = 18;
    private const double CharacterWidth = 6;
    private const int Margin = 26;

    private readonly double[] _lifelines;
    private readonly int _rows;

    public SvgLayout(SequenceDiagram diagram)
    {
        _rows = diagram.Arrows.Count;
        _lifelines = new double[diagram.Participants.Count];
        var x = TimesWidth + (HeadWidth / 2.0);
        for (var index = 0; index < _lifelines.Length; index++)
        {
            _lifelines[index] = x;
            x += Math.Max(HeadWidth + 16, GapBehind(index, diagram.Arrows));
        }

        Width = (int)Math.Ceiling(Math.Max(x - (HeadWidth / 2.0), 640));
        Height = LifelineEnd + 12 + (diagram.Remarks.Count * RemarkHeight);
    }

    public int Width { get; }

    public int Height { get; }

    public int LifelineEnd => HeadBottom + 20 + (_rows * RowHeight);

    public double LifelineAt(int participant) => _lifelines[participant];

    public double RowAt(int row) => HeadBottom + 12 + ((row + 1) * RowHeight) - 8;

    public double RemarkAt(int remark) => LifelineEnd + 16 + (remark * RemarkHeight);

    // Wide enough for what is written above an arrow to the neighbour, or beside one to itself.
    private static double GapBehind(int participant, IReadOnlyList<Arrow> arrows) =>
        arrows
            .Where(arrow => Math.Min(arrow.From, arrow.To) == participant && Math.Max(arrow.From, arrow.To) <= participant + 1)
            .Select(arrow => (Math.Min(arrow.Text.Length, ArrowCharacters) * CharacterWidth) + Margin)
            .DefaultIfEmpty(0)
            .Max();
}
