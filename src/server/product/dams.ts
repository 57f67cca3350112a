export interface Dam {
  id: string;
  name: string;
  text: string;
  example: string;
}

export const DAMS: Dam[] = [
  {
    id: 'gravity',
    name: 'Gravity dam',
    text: 'Holds the water back by its weight. Each block is stable without its neighbours.',
    example: 'Grande Dixence in Switzerland',
  },
  {
    id: 'arch',
    name: 'Arch dam',
    text: 'Curves against the water and passes the load to the rock on both sides.',
    example: 'Hoover Dam in the United States, which is partly a gravity dam',
  },
  {
    id: 'buttress',
    name: 'Buttress dam',
    text: 'A thin wall on a row of supports. It needs far less concrete.',
    example: 'Itaipu in Brazil and Paraguay, in its main part',
  },
  {
    id: 'embankment',
    name: 'Embankment dam',
    text: 'A hill of earth and rock with a watertight core. Water must never flow over the top, so it has a spillway.',
    example: 'Oroville Dam in the United States',
  },
];
